import type { KafkaSource } from './kafka/kafka-source.ts';
import type { Management } from './management/create-management.ts';
import { systemClock } from './stream/clock.ts';
import type { Pipeline } from './stream/pipeline.ts';

/** The part of the time that is kept for leaving the group and closing connections. */
const CLOSING_MS = 3_000;

/** Kafka's last hint may not hold up leaving the group. */
const LAST_HINT_MS = 500;

/** The parts of the consumer that a shutdown ends. */
export interface ShutdownParts {
  readonly management: Pick<Management, 'logger' | 'draining' | 'stop'>;
  readonly pipeline: Pick<Pipeline, 'drain' | 'positions' | 'close'>;
  readonly source: Pick<KafkaSource, 'commitHint' | 'stop'>;
  /** Closed when nothing writes any more: the pool, the producer of dead letters, the connections of health checks. */
  readonly closedLast: readonly { close(): Promise<void> }[];
  /** Aborted to end what runs beside the pipeline. */
  readonly ending: AbortController;
  /** Loops that end by themselves once that is aborted. */
  readonly background: readonly Promise<void>[];
}

/** Why, and in which time. */
export interface ShutdownOptions {
  readonly reason: string;
  /** All steps but the last, in milliseconds. */
  readonly timeoutMs: number;
  /** Read when the parts are closed: a failure of the drain may still change it. */
  readonly exitCode: () => number;
}

/**
 * Ends the consumer in the order in which nothing is lost:
 *
 * 1. readiness fails, so no traffic is sent here
 * 2. fetching stops, queued records are written; those that cannot be in time stay ahead of the stored offset
 * 3. the last positions are committed to Kafka and the group is left: its partitions are reassigned at once instead of
 *    after the session time-out
 * 4. the pool closes, when nothing writes any more
 * 5. HTTP last, so that the last scrape sees the final values
 */
export async function shutDown(parts: ShutdownParts, options: ShutdownOptions): Promise<void> {
  const { management, pipeline, ending } = parts;
  const { logger } = management;
  const { reason, timeoutMs, exitCode } = options;
  logger.info({ reason, timeout: timeoutMs }, 'draining');
  management.draining();
  ending.abort();
  if (!(await within(Math.max(timeoutMs - CLOSING_MS, timeoutMs / 2), pipeline.drain()))) {
    const positions = pipeline.positions().map(({ topic, partition, offset }) => `${topic}/${partition}@${offset}`);
    logger.warn({ positions }, 'gave up draining: records from these offsets on are read again by the next owner');
  }
  await within(Math.min(CLOSING_MS, timeoutMs / 2), close(parts));
  logger.info({ exitCode: exitCode() }, 'stopped');
  await management.stop();
}

async function close({ source, pipeline, closedLast, background }: ShutdownParts): Promise<void> {
  await within(LAST_HINT_MS, source.commitHint(pipeline.positions()));
  await source.stop();
  await pipeline.close();
  await Promise.all([...closedLast.map((each) => each.close()), ...background]);
}

/** Whether the work was done in time; its failure counts as done. */
async function within(milliseconds: number, work: Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  const isDone = work.then(
    () => true,
    () => true,
  );
  const isLate = systemClock.wait(milliseconds, timer.signal).then(() => false);
  return Promise.race([isDone, isLate]).finally(() => timer.abort());
}
