import type { Clock } from './clock.ts';
import type { ConsumerReport } from './consumer-state.ts';
import type { LogRange, RecordSource } from './record-source.ts';

const POLL_MS = 2_000;
/** Where all is read, nothing but a new record can change anything, and that one comes by itself. */
const QUIET_MS = 4_000;
/** Before the first assignment nobody is asked anything, and the start waits for what is asked after it. */
const STARTING_MS = 20;
/** Right after an assignment the lag is unknown, and health waits for it. */
const EAGER_MS = 100;

/**
 * Keeps asking the brokers what the logs of the owned topics hold, until the signal is aborted: an idle, paused or stuck
 * partition brings no batch that would tell. While the brokers are away the last answer stays.
 */
export async function pollLogEnds(
  source: Pick<RecordSource, 'logRanges'>,
  pipeline: { report(): ConsumerReport; observeLog(range: LogRange): void },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const topics = new Set(pipeline.report().partitions.map(({ topic }) => topic));
    const ranges = await Promise.all([...topics].map((topic) => source.logRanges(topic).catch((): LogRange[] => [])));
    for (const range of ranges.flat()) {
      pipeline.observeLog(range);
    }
    await clock.wait(pauseMs(pipeline.report()), signal);
  }
}

function pauseMs({ state, partitions }: ConsumerReport): number {
  if (state === 'starting') {
    return STARTING_MS;
  }
  if (partitions.length === 0 || partitions.some(({ lag }) => lag === null)) {
    return EAGER_MS;
  }
  return partitions.every(({ lag }) => lag === 0n) ? QUIET_MS : POLL_MS;
}
