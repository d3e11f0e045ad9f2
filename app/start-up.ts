import { FATAL_CODES, type FatalCode, helpOf } from '../contract/fatal-codes.ts';
import { milliseconds } from '../settings/schema/duration.ts';
import { deadLetterTopic } from '../settings/sections/dead-letters.ts';
import type { Settings } from '../settings/settings.ts';
import type { KafkaDeadLetterTopic } from './kafka/dead-letter-producer.ts';
import type { Logger } from './logging/logger.ts';
import { OutageLog } from './logging/outage-log.ts';
import type { SharedTable } from './store/tables/filled-tables.ts';
import type { WaitingTopic } from './stream/partition/consumer-state.ts';
import { Retries } from './stream/partition/retries.ts';
import type { PipelineOptions } from './stream/pipeline.ts';
import { systemClock } from './stream/ports/clock.ts';
import type { Position } from './stream/ports/record-source.ts';
import type { ReadTopics } from './topics/read-topics.ts';

/** What the pipeline needs of the settings. */
export function pipelineOptions(settings: Settings, topics: ReadTopics): PipelineOptions {
  const { consumer, kafka } = settings;
  const { groupId, sessionTimeout } = kafka;
  const stallTimeoutMs = milliseconds(consumer.stallTimeout);
  const groupTimeoutMs = Math.max(stallTimeoutMs, milliseconds(sessionTimeout));
  return {
    ...{ ...consumer, groupId, stallTimeoutMs, groupTimeoutMs },
    topics: () => topics.all,
    templates: topics.templates,
    isTemplated: (topic) => topics.isTemplated(topic),
  };
}

/** What was done with the tables: the versions that were applied, and those that this program does not know. */
interface Prepared {
  readonly versions: readonly (number | string)[];
  readonly unknown: readonly (number | string)[];
}

/**
 * Prepares the tables, waiting for PostgreSQL as long as it is away, and logs what was done.
 *
 * @param prepare one attempt
 * @param signal ends the waiting
 */
export async function prepareTables(
  prepare: () => Promise<Prepared>,
  schema: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  let logged = '';
  const prepared = await new Retries(systemClock).until(prepare, signal, {
    onOutage: ({ message: reason }) => {
      // What failed once it ends has lost its connection to the end.
      if (reason !== logged && !signal.aborted) {
        logged = reason;
        logger.warn({ reason }, 'waiting for PostgreSQL');
      }
    },
  });
  if (prepared !== undefined && prepared.versions.length > 0) {
    logger.info({ schema, versions: prepared.versions }, 'created or upgraded the tables');
  }
  if (prepared !== undefined && prepared.unknown.length > 0) {
    const consequence = 'it writes to them as it knows them, as after a rollback; newer columns stay empty';
    logger.warn({ schema, versions: prepared.unknown }, `the tables are newer than this program: ${consequence}`);
  }
}

/** The first dead letter may be weeks away, and without its topic it holds up its partition. */
export async function warnOfMissingTopics(
  settings: Settings,
  topics: readonly string[],
  deadLetters: Pick<KafkaDeadLetterTopic, 'missing'>,
  logger: Logger,
): Promise<void> {
  const read = settings.deadLetters.to === 'table' ? [] : topics;
  const missing = await deadLetters
    .missing(read.map((topic) => deadLetterTopic(settings.deadLetters, topic)))
    .catch(() => []);
  if (missing.length > 0) {
    const consequence = 'the first dead letter will hold up its partition until they are created';
    logger.error({ topics: missing }, `topics for dead letters do not exist: ${consequence}`);
  }
}

const isFatalCode = (code: WaitingTopic['code']): code is FatalCode => Object.hasOwn(FATAL_CODES, code);

/** Logs what the parts report of tables and offsets. */
export const logsOf = (logger: Logger) => ({
  /** A stored offset that went back. */
  onBehind: ({ topic, partition, offset }: Position, known: bigint): void => {
    const consequence = 'what is ahead of it is read and written again, after a failover or a restore';
    const offsets = { storedOffset: offset.toString(), known: known.toString() };
    logger.warn({ topic, partition, ...offsets }, `the stored offset went back: ${consequence}`);
  },
  /** Tables that other groups fill, too. */
  onShared: (tables: readonly SharedTable[]): void => {
    const consequence = 'each record is written once by each group';
    const remedy = 'fill another table, or consent with tables[].sharedWithGroups: true';
    logger.warn({ tables }, `other groups fill these tables from the same topics, so ${consequence}: ${remedy}`);
  },
  /** A topic that waits alone. */
  onWaits: ({ topic, code, message, isIgnored }: WaitingTopic): void => {
    const help = isFatalCode(code) ? { help: helpOf(code) } : {};
    const goesOn = 'once it is mended it goes on by itself within seconds, without a new start, and the others go on';
    logger[isIgnored ? 'info' : 'error']({ topic, code, ...help }, `the topic waits alone; ${goesOn}: ${message}`);
  },
  onGoesOn: (topic: string, waitedSeconds: number): void => {
    logger.info({ topic, seconds: Math.round(waitedSeconds) }, 'the topic goes on where it was');
  },
  /** A table whose transactions have waited for each other. */
  onContended: (table: string): void => {
    const cause = `transactions of ${table} have waited for each other, so keys of it are in several partitions`;
    const consequence = 'from now on its transactions that delete rows are written one after the other';
    logger.warn({ table }, `${cause}: which record comes last there is undefined; ${consequence}`);
  },
});

/** The logs of what may be away. */
export const watchOutages = (
  logger: Logger,
  closing: AbortSignal,
  onKafkaAway: () => void,
): Readonly<Record<'database' | 'kafka' | 'registry', OutageLog>> => ({
  database: new OutageLog('PostgreSQL', logger, { closing }),
  registry: new OutageLog('the schema registry', logger, { closing }),
  kafka: new OutageLog('Kafka', logger, { closing, onFailure: onKafkaAway }),
});
