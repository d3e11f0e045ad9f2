import { setTimeout as delay } from 'node:timers/promises';
import type { Job } from './job.ts';

/** Far below the broker's limit of 1 MB for a batch, even with a large poison record in it. */
const MOST_PER_REQUEST = 2_000;
const PACE_MS = 200;
const SECOND_MS = 1_000;

/**
 * Produces until the number that was asked for is acknowledged, the signal is aborted, or the consumer has ended.
 *
 * @throws Error of the client when the broker stays away.
 */
export async function produceOrders({ options, producer, consumerExit }: Job, signal: AbortSignal): Promise<void> {
  const total = options.records ?? Number.POSITIVE_INFINITY;
  const startedAt = performance.now();
  while (producer.acknowledged < total && !signal.aborted && consumerExit() === undefined) {
    const elapsed = performance.now() - startedAt + PACE_MS;
    const due = options.rate === undefined ? total : Math.floor((elapsed * options.rate) / SECOND_MS);
    const count = Math.min(MOST_PER_REQUEST, total - producer.acknowledged, due - producer.acknowledged);
    if (count > 0) {
      await producer.send(count);
    } else {
      await delay(PACE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
