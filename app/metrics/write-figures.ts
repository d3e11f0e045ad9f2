import { WRITE_METHODS } from '../../contract/metrics/definition.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { CommittedBatch } from '../stream/stream-listener.ts';
import { BucketCounts } from './bucket-counts.ts';
import { LabelledCounts } from './labelled-counts.ts';
import type { Labels, MetricSource, MetricSources } from './metric-source.ts';

/** Rows, batch sizes and times of one topic's transactions. */
class TopicWrites {
  readonly labels: Labels;
  readonly rows: LabelledCounts<(typeof WRITE_METHODS)[number]>;
  readonly processing = new BucketCounts(METRICS.processing.buckets);
  readonly endToEnd = new BucketCounts(METRICS.endToEnd.buckets);
  readonly batchRecords = new BucketCounts(METRICS.batchRecords.buckets);

  constructor(topic: string) {
    this.labels = { topic };
    this.rows = new LabelledCounts('method', WRITE_METHODS, { topic });
  }
}

type WriteMetrics = Pick<MetricSources, 'rowsWritten' | 'processing' | 'endToEnd' | 'batchRecords'>;

/** Measures committed transactions by topic; every series is there from the start. */
export class WriteFigures {
  readonly #topics: ReadonlyMap<string, TopicWrites>;

  constructor(topics: readonly string[]) {
    this.#topics = new Map(topics.map((topic) => [topic, new TopicWrites(topic)]));
  }

  observe({ topic, rows, records, written, fetchedAt, committedAt }: CommittedBatch): void {
    const writes = this.#topics.get(topic);
    if (writes === undefined || records === 0) {
      return;
    }
    const committedMs = committedAt.getTime();
    for (const [method, count] of rows) {
      writes.rows.add(method, count);
    }
    writes.batchRecords.observe(records);
    writes.processing.observe(seconds(committedMs - fetchedAt.getTime()));
    for (const { timestamp } of written) {
      if (timestamp >= 0n) {
        writes.endToEnd.observe(seconds(committedMs - Number(timestamp)));
      }
    }
  }

  get sources(): WriteMetrics {
    const histogram = (of: (writes: TopicWrites) => BucketCounts): MetricSource => {
      return () => [...this.#topics.values()].map((writes) => of(writes).sample(writes.labels));
    };
    return {
      rowsWritten: () => [...this.#topics.values()].flatMap(({ rows }) => rows.source()),
      processing: histogram(({ processing }) => processing),
      endToEnd: histogram(({ endToEnd }) => endToEnd),
      batchRecords: histogram(({ batchRecords }) => batchRecords),
    };
  }
}

/** A producer's clock may be ahead of ours; a sum of durations never falls all the same. */
const seconds = (milliseconds: number): number => Math.max(0, milliseconds) / 1_000;
