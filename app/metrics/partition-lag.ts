import type { TopicPartition } from '../stream/record.ts';

/** What is kept of each partition, made when it is asked for first. A scrape asks a thousand times, so no key is put together for it. */
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
