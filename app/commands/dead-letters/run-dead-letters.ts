import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import { formatsOf } from '../../../settings/sections/formats.ts';
import { settingsOfTopics } from '../../../settings/sections/tables/tables-of-topics.ts';
import type { Settings } from '../../../settings/settings.ts';
import { FieldReaders } from '../../formats/field-readers.ts';
import { schemasFirst } from '../../formats/prepare-schemas.ts';
import { recordDecoders } from '../../formats/record-decoders.ts';
import { createRegistry } from '../../formats/registry/schema-registry.ts';
import { UNWATCHED } from '../../logging/outage-log.ts';
import { printable } from '../../logging/printable-text.ts';
import { recordsOf } from '../../records/pack-records.ts';
import type { DatabasePool } from '../../store/connection/database-pool.ts';
import type { StreamPorts } from '../../stream/partition/stream-ports.ts';
import { systemClock } from '../../stream/ports/clock.ts';
import { MappedTables } from '../../tables/table/mapped-tables.ts';
import { type OutputStreams, unlessInterrupted } from '../command/command.ts';
import { Output, reasonList } from '../command/output.ts';
import { withDatabase } from '../command/with-database.ts';
import {
  discardedJson,
  jsonLine,
  letterLines,
  outcomeJson,
  outcomeLine,
  ReplayTally,
  tablePage,
  targetLines,
} from './dead-letters-output.ts';
import { type ReplayRequest, replayDeadLetters } from './dead-letters-replay.ts';
import {
  countDeadLetters,
  countTargets,
  type ListedDeadLetter,
  type ListRequest,
  letterTopics,
  listDeadLetters,
} from './dead-letters-table.ts';
import {
  atPlace,
  type DiscardRequest,
  discardLetter,
  findLetter,
  type NoLetter,
  placeText,
  type ShowRequest,
} from './one-letter.ts';
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

/** What `show` and `discard` do with the one letter of a place. */
type OnLetter = (pool: DatabasePool, schema: string) => Promise<ListedDeadLetter | NoLetter>;

function onLetter(
  word: 'show' | 'discard',
  { database }: Settings,
  { place }: ShowRequest,
  streams: OutputStreams,
  { run, lines }: { readonly run: OnLetter; readonly lines: (letter: ListedDeadLetter) => readonly string[] },
): Promise<number> {
  const command = `dead-letters ${word}`;
  return withDatabase(command, database, streams, async (pool) => {
    const output = new Output(streams, systemClock);
    await pool.withClient((client) => countDeadLetters(client, database.schema, atPlace(place)));
    const letter = await run(pool, database.schema);
    if ('words' in letter) {
      await output.lines([`${PRODUCT_NAME} ${command}: ${printable(letter.words)}`], 'err');
      return EXIT_CODE.failed;
    }
    await output.lines(lines(letter));
    return EXIT_CODE.ok;
  });
}

/**
 * Runs `dead-letters show`.
 *
 * @returns the exit code: 0 when the letter was shown; 1 when there is none, or several groups have one, or PostgreSQL
 * did not answer. It rejects only for a mistake in the program.
 */
export const showLetter = (settings: Settings, request: ShowRequest, streams: OutputStreams): Promise<number> =>
  onLetter('show', settings, request, streams, {
    run: (pool, schema) => pool.withClient((client) => findLetter(client, schema, request.place)),
    lines: (letter) => (request.json ? [jsonLine(letter)] : letterLines(letter)),
  });

/**
 * Runs `dead-letters discard`.
 *
 * @returns the exit code: 0 when the letter is in `discarded_letters`; 1 when it stayed, or there is none. It rejects
 * only for a mistake in the program.
 */
export const discardOne = (settings: Settings, request: DiscardRequest, streams: OutputStreams): Promise<number> =>
  onLetter('discard', settings, request, streams, {
    run: (pool, schema) => pool.withClient((client) => discardLetter(client, schema, request)),
    lines: (letter) =>
      request.json
        ? [discardedJson(letter, request.because)]
        : [printable(`discarded ${placeText(letter)} of group ${letter.groupId}, because: ${request.because}`)],
  });

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
    value: request.value,
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
    const { place } = request.filter;
    const letter = place && (await pool.withClient((client) => findLetter(client, schema, place)));
    if (letter && 'words' in letter) {
      await output.lines([`${PRODUCT_NAME} dead-letters replay: ${printable(letter.words)}`], 'err');
      return EXIT_CODE.failed;
    }
    const tally = new ReplayTally(Math.min(total(counts), request.limit ?? Number.POSITIVE_INFINITY), request.dryRun);
    try {
      await replayAll(settings, request, pool, { output, tally, signal });
    } finally {
      await output.lines([`${signal.aborted ? 'interrupted: ' : ''}${tally.summary()}`], 'err');
    }
    if (place && tally.isEmpty && !signal.aborted) {
      await output.lines([`${placeText(place)} is held by another transaction: try again when it is over`]);
    }
    const isDone = tally.isClean && !(place && tally.isEmpty);
    return unlessInterrupted(signal, isDone ? EXIT_CODE.ok : EXIT_CODE.failed);
  });
}

/** Replays the letters of a request, with a line for each that stays. */
async function replayAll(
  given: Settings,
  request: ReplayRequest,
  pool: DatabasePool,
  { output, tally, signal }: { readonly output: Output; readonly tally: ReplayTally; readonly signal: AbortSignal },
): Promise<void> {
  // Those of the letters are enough: Kafka may not have their topics any more.
  const topics = await pool.withClient((client) => letterTopics(client, given.database.schema));
  const { settings, waiting } = settingsOfTopics(given, topics);
  const registry = createRegistry(settings, { current: () => settings, clock: systemClock, outages: UNWATCHED });
  const readers = new FieldReaders((topic) => formatsOf(settings, topic), registry);
  const tables = new MappedTables(settings, {}, readers, { settings, waiting });
  const prepare = registry && schemasFirst(registry, settings);
  const target = replayTarget(settings, request, tables, { decoderOf: recordDecoders(readers), prepare });
  try {
    await pool.withClient((client) => tables.read(client));
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
  }
}
