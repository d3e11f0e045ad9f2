/** A record in PostgreSQL; times in milliseconds since 1970. */
export interface WrittenRecord {
  readonly partition: number;
  /** The record's timestamp. */
  readonly producedAt: number;
  /** When its transaction was committed. */
  readonly committedAt: number;
}

/** A stretch of time; milliseconds since 1970. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/** What records of a window had to wait, in seconds. */
export interface GroupDelays {
  /** 99 of 100 records were committed within it, from their timestamp on. */
  readonly p99: number;
  readonly longest: number;
  /** Partitions that were without a commit for more than a second. */
  readonly stalledPartitions: number;
  /** By how much they were, summed. */
  readonly stalledSeconds: number;
  /** Records that the figures are of. */
  readonly records: number;
}

const SECOND_MS = 1_000;
/** So long a partition under load may be without a commit. */
const STALL_MS = 1_000;

/**
 * The delays of the records that were produced in a window, or waited when it began. A partition's commit before the
 * window is where its first time without one begins, and the window's end is where the last one ends.
 *
 * @param written all records that were written before, in and after the window
 */
export function groupDelays(written: readonly WrittenRecord[], window: Window): GroupDelays {
  const delays = written
    .filter(({ producedAt, committedAt }) => committedAt >= window.from && producedAt <= window.to)
    .map(({ producedAt, committedAt }) => committedAt - producedAt)
    .sort((a, b) => a - b);
  const stalls = stallsOf(written, window);
  return {
    p99: (delays[Math.ceil(delays.length * 0.99) - 1] ?? Number.NaN) / SECOND_MS,
    longest: (delays.at(-1) ?? Number.NaN) / SECOND_MS,
    stalledPartitions: stalls.filter((stalled) => stalled > 0).length,
    stalledSeconds: stalls.reduce((sum, stalled) => sum + stalled, 0) / SECOND_MS,
    records: delays.length,
  };
}

/** Of each partition, the milliseconds by which its times without a commit passed {@link STALL_MS}. */
function stallsOf(written: readonly WrittenRecord[], { from, to }: Window): readonly number[] {
  const commits = new Map<number, number[]>();
  for (const { partition, committedAt } of written) {
    const times = commits.get(partition) ?? [];
    times.push(committedAt);
    commits.set(partition, times);
  }
  return [...commits.values()].map((times) => {
    const ascending = times.sort((a, b) => a - b);
    const before = ascending.findLast((time) => time < from) ?? from;
    const ends = [before, ...ascending.filter((time) => time >= from && time < to), to];
    return ends.slice(1).reduce((sum, end, nth) => sum + Math.max(0, end - (ends[nth] ?? end) - STALL_MS), 0);
  });
}
