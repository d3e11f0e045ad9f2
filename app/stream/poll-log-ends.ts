import type { ConsumerReport, PartitionReport } from './partition/consumer-state.ts';
import { FRESH_MS, POLL_WITHOUT_LAG_MS } from './partition/lag.ts';
import type { Clock } from './ports/clock.ts';
import type { PartitionLog, RecordSource } from './ports/record-source.ts';

/** Poll interval while a partition is behind. */
const POLL_BEHIND_MS = 2_000;
/** Before the first assignment no broker is asked, and the start waits for the first answer after it. */
const POLL_STARTING_MS = 20;
/** Right after an assignment, and while the log may be cut, the lag is unknown, and health waits for it. */
const POLL_UNKNOWN_MS = 100;

/** A topic is asked about after this time in any case: what is reported of its leaders is known for a minute. */
const ASK_ANYWAY_MS = 20_000;

/** An answer that takes longer holds up its own topic only. */
const ANSWERED_MS = 1_000;

/**
 * Asks the brokers for the log ranges of the owned topics again and again, until the signal is aborted. Fetches show
 * the logs of what they ask for, and a paused or stuck partition is asked for by none. So a topic is asked about while
 * a look at one of its owned partitions is not fresh. It is seldom asked about anyway, since others may own a partition
 * without a leader. Each topic is a request. Where an answer fails or does not come, the last one stays, and ages.
 */
export async function pollLogEnds(
  source: Pick<RecordSource, 'logRanges'>,
  pipeline: { report(): ConsumerReport; onLog(log: PartitionLog, askedAt: Date): void },
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const asked = new Set<string>();
  const askedAt = new Map<string, number>();
  const look = async (topic: string): Promise<void> => {
    const now = clock.steady();
    asked.add(topic);
    askedAt.set(topic, now.getTime());
    const logs = await source.logRanges(topic).catch((): PartitionLog[] => []);
    asked.delete(topic);
    for (const log of signal.aborted ? [] : logs) {
      pipeline.onLog(log, now);
    }
  };
  while (!signal.aborted) {
    const { partitions } = pipeline.report();
    const before = clock.steady().getTime() - ASK_ANYWAY_MS;
    const isDue = ({ topic, awaits, logEndAgeMs = FRESH_MS }: PartitionReport): boolean =>
      awaits !== undefined || logEndAgeMs >= FRESH_MS || (askedAt.get(topic) ?? before) <= before;
    const topics = new Set(partitions.filter(isDue).map(({ topic }) => topic));
    const looks = [...topics].filter((topic) => !asked.has(topic)).map(look);
    await waitAtMost(ANSWERED_MS, Promise.all(looks), { clock, signal });
    await clock.wait(pauseMs(pipeline.report(), asked), signal);
  }
}

/** Waits for work that never rejects, for so long at most, and then leaves no timer and no listener behind. */
export async function waitAtMost(
  ms: number,
  work: Promise<unknown>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
) {
  const ended = new AbortController();
  const end = () => ended.abort();
  signal.addEventListener('abort', end);
  await Promise.race([work, clock.wait(ms, ended.signal)]);
  signal.removeEventListener('abort', end);
  ended.abort();
}

/** @param asked topics whose answer is still to come: nothing can be asked of them before */
function pauseMs({ state, partitions }: ConsumerReport, asked: ReadonlySet<string>): number {
  if (state === 'starting') {
    return POLL_STARTING_MS;
  }
  if (partitions.length === 0 || partitions.some(({ topic, awaits }) => awaits && !asked.has(topic))) {
    return POLL_UNKNOWN_MS;
  }
  return partitions.every(({ lag }) => lag === 0n) ? POLL_WITHOUT_LAG_MS : POLL_BEHIND_MS;
}
