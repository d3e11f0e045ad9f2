import { EXIT_CODE } from '../contract/exit-code.ts';
import type { Logger } from './logging/logger.ts';
import type { Management } from './management/create-management.ts';
import type { Pipeline } from './stream/pipeline.ts';
import { systemClock } from './stream/ports/clock.ts';
import type { Position, RecordSource } from './stream/ports/record-source.ts';

/** The part of the time that is kept for leaving the group and closing connections. */
const CLOSING_MS = 3_000;

/** The partitions change owners within one heartbeat of each member, or they do not. */
const HAND_OVER_MS = 3_000;

/** Kafka's last hint may not hold up leaving the group. */
const LAST_HINT_MS = 500;

/** The parts of the consumer that a shutdown ends. */
export interface ShutdownParts {
  readonly management: Pick<Management, 'draining' | 'stop'>;
  readonly logger: Logger;
  readonly pipeline: Pick<Pipeline, 'drain' | 'positions' | 'followPositions' | 'close'>;
  readonly source: Pick<RecordSource, 'handOver' | 'commitHint' | 'stop'>;
  /** Closed when nothing writes any more: the pool, the producer of dead letters, the connections of health checks. */
  readonly closedLast: readonly { close(): Promise<void> }[];
  /** Aborted to end what runs beside the pipeline. */
  readonly ending: AbortController;
  /** Aborted before the connections are closed: what fails on them then is no outage. */
  readonly closing: AbortController;
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
 * 2. the partitions are handed over, in 3 s and half of the time for draining at most: they are read and written here
 *    until the group gives them to others, which open them at the moment in which they are dropped here. What is queued
 *    then stays ahead of the stored offset; the transaction under way is committed or not, and whoever opens the
 *    partition reads which, or is turned away once. A process that failed hands nothing over: it takes no record in any
 *    more
 * 3. what was not handed over is drained: fetching stops, queued records are written; those that cannot be in time stay
 *    ahead of the stored offset. What was handed over ends its transaction
 * 4. the last positions are committed to Kafka and the group is left: what is owned still is reassigned at once instead
 *    of after the session time-out. The positions of what was handed over are committed, too, in the generation that
 *    gave it away; those of the new owners follow theirs, in the generation that begins when the group is left. By the
 *    protocol of KIP-848 the group was left in 2.: nothing can be committed any more, and the positions of the new
 *    owners alone follow
 * 5. the pool closes, when nothing writes any more
 * 6. HTTP last, so that the last scrape sees the final values
 *
 * What runs beside the pipeline, such as the commits of positions, goes on until the partitions are handed over. A step
 * that takes too long is left behind for the next one; only that of 2. leaves its time to 3.
 */
export async function shutDown(parts: ShutdownParts, options: ShutdownOptions): Promise<void> {
  const { management, pipeline, ending, logger } = parts;
  const { reason, timeoutMs, exitCode } = options;
  logger.info({ reason, timeout: timeoutMs }, 'draining');
  management.draining();
  const drainMs = Math.max(timeoutMs - CLOSING_MS, timeoutMs / 2);
  const drainBy = performance.now() + drainMs;
  const ownedPositions = pipeline.followPositions();
  const isHandedOver = exitCode() === EXIT_CODE.ok && (await handOver(parts, Math.min(HAND_OVER_MS, drainMs / 2)));
  ending.abort();
  if (!(await isDoneWithin(drainBy - performance.now(), pipeline.drain()))) {
    const positions = pipeline.positions().map(({ topic, partition, offset }) => `${topic}/${partition}@${offset}`);
    logger.warn({ positions }, 'gave up draining: records from these offsets on are read again by the next owner');
  }
  const lastPositions = isHandedOver ? ownedPositions() : pipeline.positions();
  await isDoneWithin(Math.min(CLOSING_MS, timeoutMs / 2), close(parts, lastPositions));
  logger.info({ exitCode: exitCode() }, 'stopped');
  await management.stop();
}

/** One try: whether other members own all partitions now. */
async function handOver({ source, logger }: ShutdownParts, timeoutMs: number): Promise<boolean> {
  const beganAt = performance.now();
  let isHandedOver = false;
  const trying = source.handOver(timeoutMs).then((isDone) => {
    isHandedOver = isDone;
  });
  await isDoneWithin(timeoutMs, trying);
  if (isHandedOver) {
    const milliseconds = Math.round(performance.now() - beganAt);
    logger.info({ milliseconds }, 'handed all partitions over to other members of the group');
  }
  return isHandedOver;
}

async function close(
  { source, pipeline, closing, closedLast, background }: ShutdownParts,
  lastPositions: readonly Position[],
): Promise<void> {
  if (lastPositions.length > 0) {
    await isDoneWithin(LAST_HINT_MS, source.commitHint(lastPositions));
  }
  closing.abort();
  await source.stop();
  await pipeline.close();
  await Promise.all([...closedLast.map((each) => each.close()), ...background]);
}

/** Whether the work was done in time; its failure counts as done. */
async function isDoneWithin(milliseconds: number, work: Promise<void>): Promise<boolean> {
  const timer = new AbortController();
  const isDone = work.then(
    () => true,
    () => true,
  );
  const isLate = systemClock.wait(milliseconds, timer.signal).then(() => false);
  return Promise.race([isDone, isLate]).finally(() => timer.abort());
}
