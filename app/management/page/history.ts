import type { Metrics } from '../../metrics/create-metrics.ts';
import type { ConsumerReport, PartitionReport } from '../../stream/partition/consumer-state.ts';

/** One point of a chart each ten seconds, ten minutes of them: 240 bytes for each line of a chart. */
const POINT_MS = 10_000;
export const POINTS = 60;
export const MINUTES = (POINTS * POINT_MS) / 60_000;

/** Values of the last ten minutes, the oldest first; NaN where one is not known. */
export type Points = readonly number[];

/** What is remembered of a partition, of a topic, or of all. */
export interface Remembered {
  /** Records that waited. */
  readonly lag: Points;
  /** Records that were written a second. */
  readonly perSecond: Points;
}

/** Two rings of points; where the newest is, the history knows. */
class Rings {
  /** The lag, and behind it the records a second: one array takes less memory than two. */
  readonly points = new Float32Array(2 * POINTS).fill(Number.NaN);
  /** The last count, of which the next one shows how many there were. */
  counted: number | null = null;
  sampledAt = -1;
}

/** Adds up what is known; where a part is not known, the sum is not. */
interface Sums {
  lag: number;
  perSecond: number;
}

export type Figures = Metrics['figures'];

export interface HistoryOptions {
  readonly report: () => ConsumerReport;
  readonly figures: Pick<Figures, 'recordsConsumed' | 'tableRecords' | 'rowsWritten'>;
  /** Topics whose records go into the table `records`. */
  readonly recordTopics: readonly string[];
  /** Milliseconds of a clock that never goes back. @default performance.now() */
  readonly now?: () => number;
}

/** The table of `kafka.topics`. */
const RECORDS_TABLE = 'records';

/** How many records met an operation in a table, since the process started. */
interface CountedOperation {
  readonly operation: string;
  readonly count: number;
}

/** What was done in each table, by its name: first in `records`, where a topic goes there, then in the user's own. */
export function tableOperations(
  figures: Pick<Figures, 'tableRecords' | 'rowsWritten'>,
  recordTopics: readonly string[],
): ReadonlyMap<string, readonly CountedOperation[]> {
  const tables = new Map<string, CountedOperation[]>();
  if (recordTopics.length > 0) {
    const written = figures.rowsWritten().filter(({ labels: { topic = '' } }) => recordTopics.includes(topic));
    tables.set(RECORDS_TABLE, [{ operation: 'append', count: written.reduce((sum, { value }) => sum + value, 0) }]);
  }
  for (const { labels, value: count } of figures.tableRecords()) {
    const { table = '', operation = '' } = labels;
    tables.set(table, [...(tables.get(table) ?? []), { operation, count }]);
  }
  return tables;
}

/**
 * Remembers the last ten minutes of every owned partition and every table, by looking at the counters of the metrics
 * every ten seconds: a record costs nothing. What is revoked is forgotten, so that memory is bounded by what the
 * process owns: docs/page.md has the figure.
 */
export class History {
  readonly #options: HistoryOptions;
  readonly #now: () => number;
  readonly #partitions = new Map<string, Rings>();
  readonly #topics = new Map<string, Rings>();
  readonly #tables = new Map<string, Rings>();
  readonly #all = new Rings();
  #lookedAt: number | null = null;
  /** How many points there were; the newest is at that index of the ring. */
  #step = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Looks now, and every ten seconds from now on; that keeps no process alive. */
  start(): void {
    this.look();
    this.#timer = setInterval(() => this.look(), POINT_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Takes one point of everything. */
  look(): void {
    const now = this.#now();
    const seconds = this.#lookedAt === null ? Number.NaN : (now - this.#lookedAt) / 1_000;
    this.#advance(this.#lookedAt === null ? 1 : Math.max(1, Math.round((now - this.#lookedAt) / POINT_MS)));
    this.#lookedAt = now;
    this.#lookAtPartitions(seconds);
    this.#lookAtTables(seconds);
    for (const known of [this.#partitions, this.#topics, this.#tables]) {
      for (const [name, rings] of known) {
        if (rings.sampledAt !== this.#step) known.delete(name);
      }
    }
  }

  /** What is remembered of a partition that the process owns. */
  ofPartition({ topic, partition }: Pick<PartitionReport, 'topic' | 'partition'>): Remembered | undefined {
    const rings = this.#partitions.get(partitionName(topic, partition));
    return rings && this.#inOrder(rings);
  }

  /** What is remembered of the partitions of a topic together. */
  ofTopic(topic: string): Remembered | undefined {
    const rings = this.#topics.get(topic);
    return rings && this.#inOrder(rings);
  }

  /** Rows a second of a table. */
  ofTable(name: string): Points | undefined {
    const rings = this.#tables.get(name);
    return rings && this.#inOrder(rings).perSecond;
  }

  /** What is remembered of all partitions together. */
  get ofAll(): Remembered {
    return this.#inOrder(this.#all);
  }

  /** Goes on to the next point. Where the process slept, nothing is known of the points in between. */
  #advance(steps: number): void {
    const rings = [this.#all, ...this.#partitions.values(), ...this.#topics.values(), ...this.#tables.values()];
    for (let step = 0; step < Math.min(steps, POINTS); step += 1) {
      this.#step += 1;
      for (const { points } of rings) {
        points[this.#slot] = Number.NaN;
        points[POINTS + this.#slot] = Number.NaN;
      }
    }
  }

  get #slot(): number {
    return this.#step % POINTS;
  }

  #lookAtPartitions(seconds: number): void {
    const { report, figures } = this.#options;
    const counts = new Map(
      figures
        .recordsConsumed()
        .map(({ labels: { topic = '', partition }, value }) => [partitionName(topic, partition), value] as const),
    );
    const { partitions } = report();
    const sums = new Map<string, Sums>();
    const total: Sums = { lag: 0, perSecond: 0 };
    for (const { topic, partition, lag } of partitions) {
      const name = partitionName(topic, partition);
      const rings = ringsOf(this.#partitions, name);
      const perSecond = this.#rate(rings, counts.get(name), seconds);
      const ofTopic = sums.get(topic) ?? { lag: 0, perSecond: 0 };
      sums.set(topic, ofTopic);
      const known = lag === null ? Number.NaN : Number(lag);
      this.#put(rings, { lag: known, perSecond });
      for (const sum of [ofTopic, total]) {
        sum.lag += known;
        sum.perSecond += perSecond;
      }
    }
    for (const [topic, sum] of sums) {
      this.#put(ringsOf(this.#topics, topic), sum);
    }
    if (partitions.length > 0) {
      this.#put(this.#all, total);
    }
  }

  #lookAtTables(seconds: number): void {
    const { figures, recordTopics } = this.#options;
    for (const [name, operations] of tableOperations(figures, recordTopics)) {
      const rings = ringsOf(this.#tables, name);
      const rows = operations.reduce((sum, { operation, count }) => (operation === 'skip' ? sum : sum + count), 0);
      this.#put(rings, { lag: Number.NaN, perSecond: this.#rate(rings, rows, seconds) });
    }
  }

  #rate(rings: Rings, count: number | undefined, seconds: number): number {
    const before = rings.counted;
    rings.counted = count ?? null;
    return before === null || count === undefined ? Number.NaN : (count - before) / seconds;
  }

  #put(rings: Rings, { lag, perSecond }: Sums): void {
    rings.points[this.#slot] = lag;
    rings.points[POINTS + this.#slot] = perSecond;
    rings.sampledAt = this.#step;
  }

  #inOrder({ points }: Rings): Remembered {
    const oldest = (this.#step + 1) % POINTS;
    const ordered = (begin: number) => [
      ...points.subarray(begin + oldest, begin + POINTS),
      ...points.subarray(begin, begin + oldest),
    ];
    return { lag: ordered(0), perSecond: ordered(POINTS) };
  }
}

const partitionName = (topic: string, partition: number | string | undefined): string => `${partition} ${topic}`;

function ringsOf(known: Map<string, Rings>, name: string): Rings {
  const rings = known.get(name) ?? new Rings();
  known.set(name, rings);
  return rings;
}

/** The mean of the points that are known; `undefined` where none is. */
export function meanOf(points: Points): number | undefined {
  const known = points.filter((point) => !Number.isNaN(point));
  return known.length === 0 ? undefined : known.reduce((sum, point) => sum + point, 0) / known.length;
}
