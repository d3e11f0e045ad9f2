import type { RecordBatch, StreamRecord } from './record.ts';

/** Bytes that a record's own fields take: the measure by which the queue is bounded. */
const OVERHEAD_BYTES = 64;

function recordBytes(record: StreamRecord): number {
  return OVERHEAD_BYTES + (record.key?.length ?? 0) + (record.value?.length ?? 0);
}

/** What one transaction takes from the queue: records and the offset that follows them. */
export interface QueuedRecords {
  readonly records: readonly StreamRecord[];
  readonly nextOffset: bigint;
}

/** Fetched records of one partition that wait for their transaction, in order and counted in bytes. */
export class RecordQueue {
  #batches: QueuedRecords[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** Appends a batch; one without records still moves the offset on. */
  push({ records, nextOffset }: Pick<RecordBatch, 'records' | 'nextOffset'>): void {
    this.#batches.push({ records, nextOffset });
    for (const record of records) {
      this.#bytes += recordBytes(record);
    }
  }

  /**
   * Takes whole batches while they fit into `maxRecords`, or the beginning of the first one when it alone does not.
   *
   * @throws RangeError when the queue is empty
   */
  take(maxRecords: number): QueuedRecords {
    const first = this.#batches.shift();
    if (first === undefined) {
      throw new RangeError('nothing is queued');
    }
    const taken = first.records.length > maxRecords ? this.#split(first, maxRecords) : this.#merge(first, maxRecords);
    for (const record of taken.records) {
      this.#bytes -= recordBytes(record);
    }
    return taken;
  }

  clear(): void {
    this.#batches = [];
    this.#bytes = 0;
  }

  #split(batch: QueuedRecords, maxRecords: number): QueuedRecords {
    const rest = batch.records.slice(maxRecords);
    this.#batches.unshift({ records: rest, nextOffset: batch.nextOffset });
    return { records: batch.records.slice(0, maxRecords), nextOffset: rest[0]?.offset ?? batch.nextOffset };
  }

  #merge(first: QueuedRecords, maxRecords: number): QueuedRecords {
    const parts = [first.records];
    let count = first.records.length;
    let nextOffset = first.nextOffset;
    for (let next = this.#batches[0]; next && count + next.records.length <= maxRecords; next = this.#batches[0]) {
      parts.push(next.records);
      count += next.records.length;
      nextOffset = next.nextOffset;
      this.#batches.shift();
    }
    return { records: parts.length === 1 ? first.records : parts.flat(), nextOffset };
  }
}
