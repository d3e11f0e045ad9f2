import type { Clock } from './clock.ts';
import type { ConsumerReport } from './consumer-report.ts';
import type { LogRange, RecordSource } from './record-source.ts';

const POLL_MS = 2_000;
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
    const isKnown = pipeline.report().partitions.every(({ lag }) => lag !== null);
    await clock.wait(isKnown && topics.size > 0 ? POLL_MS : EAGER_MS, signal);
  }
}
