import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { formatsOf } from '../../../settings/sections/formats.ts';
import type { Settings } from '../../../settings/settings.ts';
import { FieldReaders } from '../../formats/field-readers.ts';
import { schemasFirst } from '../../formats/prepare-schemas.ts';
import { recordDecoders } from '../../formats/record-decoders.ts';
import { createRegistry } from '../../formats/registry/schema-registry.ts';
import { UNWATCHED } from '../../logging/outage-log.ts';
import { recordsOf } from '../../records/pack-records.ts';
import type { StreamPorts } from '../../stream/partition/stream-ports.ts';
import { systemClock } from '../../stream/ports/clock.ts';
import { MappedTables } from '../../tables/table/mapped-tables.ts';
import { type OutputStreams, unlessInterrupted } from '../command/command.ts';
import { withDatabase } from '../command/with-database.ts';
import {
  jsonLine,
  Output,
  outcomeJson,
  outcomeLine,
  ReplayTally,
  reasonList,
  tablePage,
  targetLines,
} from './dead-letters-output.ts';
import { type ReplayRequest, replayDeadLetters } from './dead-letters-replay.ts';
import { countDeadLetters, countTargets, type ListRequest, listDeadLetters } from './dead-letters-table.ts';
import { type LockedLetter, type ReplayTables, recordOfLetter } from './replay-rows.ts';

const total = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((all, count) => all + count, 0);

/**
 * Runs `dead-letters list`.
 *
 * @param signal ends it after the current page; its reason is the name of the operating system's signal
 * @returns the exit code: 0 on success, 1 when PostgreSQL did not answer, 128 plus the signal's number when it was
 * ended by one. It rejects only for a mistake in the program.
 */
export function listLetters(
  { database }: Settings,
  request: ListRequest,
  streams: OutputStreams,
  signal: AbortSignal,
): Promise<number> {
  const { schema } = database;
  return withDatabase('dead-letters list', database, streams, async (pool) => {
    const output = new Output(streams, systemClock);
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
    const all = total(counts);
    const reasons = all === 0 ? '' : `: ${reasonList(counts)}`;
    const more = shown < all ? `; ${shown} are shown, --limit shows more` : '';
    await output.lines([`${all.toLocaleString('en')} dead letters${reasons}${more}`, ...targetLines(targets)], 'err');
    return unlessInterrupted(signal, EXIT_CODE.ok);
  });
}

function replayTarget(
  { database, consumer, records, kafka }: Settings,
  request: ReplayRequest,
  tables: MappedTables,
  { decoderOf, prepare }: Pick<ReplayTables, 'decoderOf'> & { prepare: StreamPorts['prepare'] | undefined },
) {
  const { signal } = new AbortController();
  return {
    decoderOf,
    prepare: (letter: LockedLetter) =>
      prepare?.({ topic: letter.topic, records: recordsOf([recordOfLetter(letter)]) }, signal),
    schema: database.schema,
    maxValueBytes: consumer.maxValueBytes,
    keyEncoding: records.keyEncoding,
    dryRun: request.dryRun,
    overwrite: request.overwrite,
    isInRecords: (topic: string) => kafka.topics.includes(topic) || tables.of(topic).length === 0,
    tablesOf: (topic: string) => tables.of(topic),
  };
}

/**
 * Runs `dead-letters replay`.
 *
 * @param signal ends it after the current transaction; its reason is the name of the operating system's signal
 * @returns the exit code: 0 on success, 1 when dead letters stayed or PostgreSQL did not answer, 128 plus the signal's
 * number when it was ended by one. It rejects only for a mistake in the program.
 */
export function replayLetters(
  settings: Settings,
  request: ReplayRequest,
  streams: OutputStreams,
  signal: AbortSignal,
): Promise<number> {
  const { schema } = settings.database;
  return withDatabase('dead-letters replay', settings.database, streams, async (pool) => {
    const output = new Output(streams, systemClock);
    const counts = await pool.withClient((client) => countDeadLetters(client, schema, request.filter));
    const tally = new ReplayTally(Math.min(total(counts), request.limit ?? Number.POSITIVE_INFINITY), request.dryRun);
    const registry = createRegistry(settings, { current: () => settings, clock: systemClock, outages: UNWATCHED });
    const readers = new FieldReaders((topic) => formatsOf(settings, topic), registry);
    const tables = new MappedTables(settings, {}, readers);
    const prepare = registry && schemasFirst(registry, settings);
    const target = replayTarget(settings, request, tables, { decoderOf: recordDecoders(readers), prepare });
    await pool.withClient((client) => tables.read(client));
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
      await registry?.close();
      await output.lines([`${signal.aborted ? 'interrupted: ' : ''}${tally.summary()}`], 'err');
    }
    return unlessInterrupted(signal, tally.isClean ? EXIT_CODE.ok : EXIT_CODE.failed);
  });
}
