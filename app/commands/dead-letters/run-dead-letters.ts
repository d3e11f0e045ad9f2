import { constants } from 'node:os';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import type { Settings } from '../../../settings/settings.ts';
import { DatabasePool } from '../../store/connection/database-pool.ts';
import { systemClock } from '../../stream/ports/clock.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { UserTables } from '../../tables/table/user-tables.ts';
import {
  jsonLine,
  Output,
  type OutputStreams,
  outcomeJson,
  outcomeLine,
  ReplayTally,
  reasonList,
  tablePage,
  targetLines,
} from './dead-letters-output.ts';
import { replayDeadLetters } from './dead-letters-replay.ts';
import type { DeadLettersRequest, ListRequest, ReplayRequest } from './dead-letters-request.ts';
import { countDeadLetters, countTargets, listDeadLetters } from './dead-letters-table.ts';

/** The parts that a command works with. */
interface Tools {
  readonly settings: Settings;
  readonly pool: DatabasePool;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/**
 * Runs `dead-letters list` or `dead-letters replay`.
 *
 * @param signal ends it after the current transaction or page; its reason is the name of the operating system's signal
 * @returns the exit code: 0 on success, 1 when dead letters stayed or PostgreSQL did not answer, 128 plus the signal's
 * number when it was ended by one. It rejects only for a mistake in the program.
 */
export async function runDeadLetters(
  settings: Settings,
  request: DeadLettersRequest,
  streams: OutputStreams,
  signal: AbortSignal,
): Promise<number> {
  const output = new Output(streams, systemClock);
  const pool = new DatabasePool({ ...settings.database, poolSize: 1 }, () => undefined, {
    warn: (warning) => streams.err.write(`warning: ${warning}\n`),
  });
  const tools = { settings, pool, output, signal };
  try {
    const code = await (request.action === 'list' ? list(tools, request) : replay(tools, request));
    return signal.aborted ? interrupted(signal) : code;
  } catch (error) {
    if (!(error instanceof OutageError || error instanceof FatalError)) {
      throw error;
    }
    await output.lines([`${PRODUCT_NAME} dead-letters ${request.action}: ${error.message}`], 'err');
    return EXIT_CODE.failed;
  } finally {
    await pool.close();
  }
}

const interrupted = ({ reason }: AbortSignal): number => 128 + (constants.signals[reason as NodeJS.Signals] ?? 0);

const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((all, count) => all + count, 0);

async function list({ settings, pool, output, signal }: Tools, request: ListRequest): Promise<number> {
  const { schema } = settings.database;
  const counts = await pool.withClient((client) => countDeadLetters(client, schema, request.filter));
  const targets = await pool.withClient((client) => countTargets(client, schema, request.filter));
  let widths: readonly number[] = [];
  let shown = 0;
  for await (const letters of listDeadLetters(pool, schema, request)) {
    const page = tablePage(letters, widths);
    widths = page.widths;
    shown += letters.length;
    await output.lines(request.json ? letters.map(jsonLine) : page.lines);
    if (signal.aborted) {
      break;
    }
  }
  const total = sum(counts);
  const reasons = total === 0 ? '' : `: ${reasonList(counts)}`;
  const more = shown < total ? `; ${shown} are shown, --limit shows more` : '';
  await output.lines([`${total.toLocaleString('en')} dead letters${reasons}${more}`, ...targetLines(targets)], 'err');
  return EXIT_CODE.ok;
}

async function replay({ settings, pool, output, signal }: Tools, request: ReplayRequest): Promise<number> {
  const { schema } = settings.database;
  const counts = await pool.withClient((client) => countDeadLetters(client, schema, request.filter));
  const tally = new ReplayTally(Math.min(sum(counts), request.limit ?? Number.POSITIVE_INFINITY), request.dryRun);
  const tables = new UserTables(settings);
  await pool.withClient((client) => tables.read(client));
  const target = {
    schema,
    maxValueBytes: settings.consumer.maxValueBytes,
    keyEncoding: settings.records.keyEncoding,
    dryRun: request.dryRun,
    overwrite: request.overwrite,
    isInRecords: (topic: string) => settings.kafka.topics.includes(topic) || tables.of(topic).length === 0,
    tablesOf: (topic: string) => tables.of(topic),
  };
  try {
    for await (const outcome of replayDeadLetters(pool, target, request, signal)) {
      tally.add(outcome);
      const line = request.json ? outcomeJson(outcome) : outcomeLine(outcome);
      if (line !== null) {
        await output.lines([line]);
      }
      output.progress(() => tally.progress());
    }
  } finally {
    await output.lines([`${signal.aborted ? 'interrupted: ' : ''}${tally.summary()}`], 'err');
  }
  return tally.isClean ? EXIT_CODE.ok : EXIT_CODE.failed;
}
