import type { TopicPartition } from '../../records/record.ts';
import type { ConsumerReport, PartitionReport } from '../../stream/partition/consumer-state.ts';
import type { Gap } from '../../stream/ports/record-sink.ts';
import type { CommittedBatch } from '../../stream/ports/stream-listener.ts';
import type { Labels, MetricSource, MetricSources, Sample } from '../exposition/metric-source.ts';

type PartitionMetrics = Pick<
  MetricSources,
  'recordsConsumed' | 'skippedOffsets' | 'recordsLag' | 'lagSeconds' | 'logEndAge'
>;

/** Counters of one partition. They outlive its revocation. */
interface PartitionTotals {
  readonly labels: Labels;
  consumed: number;
  skipped: number;
}

/**
 * Lag, consumed records and skipped offsets by partition, from 0 on, for the partitions that the process owns. The
 * series goes when the partition is revoked; a counter continues where it was when the partition comes back.
 */
export class PartitionLag {
  readonly #report: () => ConsumerReport;
  readonly #now: () => number;
  readonly #counts = new PerPartition<PartitionTotals>((topic, partition) => {
    return { labels: { partition: String(partition), topic }, consumed: 0, skipped: 0 };
  });

  /**
   * @param now milliseconds since the epoch
   */
  constructor(report: () => ConsumerReport, now: () => number) {
    this.#report = report;
    this.#now = now;
  }

  onCommitted(batch: CommittedBatch): void {
    this.#counts.of(batch).consumed += batch.records;
  }

  onSkipped(gap: Gap): void {
    this.#counts.of(gap).skipped += Number(gap.nextOffset - gap.expectedOffset);
  }

  get sources(): PartitionMetrics {
    return {
      recordsConsumed: this.#perOwned((_, { consumed }) => consumed),
      skippedOffsets: this.#perOwned((_, { skipped }) => skipped),
      recordsLag: this.#perOwned(({ lag }) => (lag === null ? null : Number(lag))),
      lagSeconds: this.#perOwned((owned) => this.#secondsBehind(owned)),
      logEndAge: () => this.#logEndAges(),
    };
  }

  #perOwned(read: (owned: PartitionReport, counts: PartitionTotals) => number | null): MetricSource {
    return () => {
      const samples: Sample[] = [];
      for (const owned of this.#report().partitions) {
        const counts = this.#counts.of(owned);
        const value = read(owned, counts);
        if (value !== null) {
          samples.push({ labels: counts.labels, value });
        }
      }
      return samples;
    };
  }

  #secondsBehind({ lag, behindSince }: PartitionReport): number | null {
    if (behindSince) {
      return Math.max(0, this.#now() - behindSince.getTime()) / 1_000;
    }
    return lag === null ? null : 0;
  }

  #logEndAges(): Sample[] {
    const { partitions, unjoined = [] } = this.#report();
    const ages = new Map(unjoined);
    for (const { topic, logEndAgeMs = 0 } of partitions) {
      ages.set(topic, Math.max(ages.get(topic) ?? 0, logEndAgeMs));
    }
    return [...ages].map(([topic, ms]) => ({ labels: { topic }, value: ms / 1_000 }));
  }
}

/** A value for each partition, made at its first use. A scrape looks up a thousand, so no key is put together. */
export class PerPartition<Kept> {
  readonly #make: (topic: string, partition: number) => Kept;
  readonly #topics = new Map<string, Map<number, Kept>>();

  constructor(make: (topic: string, partition: number) => Kept) {
    this.#make = make;
  }

  of({ topic, partition }: TopicPartition): Kept {
    const partitions = this.#topics.get(topic) ?? this.#add(topic);
    const known = partitions.get(partition);
    if (known !== undefined) {
      return known;
    }
    const kept = this.#make(topic, partition);
    partitions.set(partition, kept);
    return kept;
  }

  #add(topic: string): Map<number, Kept> {
    const partitions = new Map<number, Kept>();
    this.#topics.set(topic, partitions);
    return partitions;
  }
}
