import type { RecordBatch, StreamRecord } from './record.ts';

/** Bytes that a record's own fields take: the measure by which the queue is bounded. */
const OVERHEAD_BYTES = 64;

function recordBytes({ key, value, headers }: StreamRecord): number {
  let bytes = OVERHEAD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  for (const header of headers) {
    bytes += OVERHEAD_BYTES + header.key.length + (header.value?.length ?? 0);
  }
  return bytes;
}

/** Bounds of what is taken at once; a single record may exceed the bytes. */
export interface TakeLimit {
  readonly records: number;
  readonly bytes: number;
}

/** What one transaction takes from the queue: records and the offset that follows them. */
export interface QueuedRecords {
  readonly records: readonly StreamRecord[];
  readonly nextOffset: bigint;
  /** When the oldest of them was fetched. */
  readonly fetchedAt: Date;
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

  get oldest(): StreamRecord | undefined {
    return this.#batches.find(({ records }) => records.length > 0)?.records[0];
  }

  /** Appends a batch; one without records still moves the offset on. */
  push({ records, nextOffset }: Pick<RecordBatch, 'records' | 'nextOffset'>, fetchedAt: Date): void {
    this.#batches.push({ records, nextOffset, fetchedAt });
    for (const record of records) {
      this.#bytes += recordBytes(record);
    }
  }

  /**
   * Takes records in order while they fit into the limit, but at least one, and the offset that follows them.
   *
   * @throws RangeError when the queue is empty
   */
  take(limit: TakeLimit): QueuedRecords {
    const parts: (readonly StreamRecord[])[] = [];
    const room = { records: limit.records, bytes: limit.bytes };
    const fetchedAt = this.#batches[0]?.fetchedAt;
    let nextOffset: bigint | null = null;
    for (let batch = this.#batches[0]; batch; batch = this.#batches[0]) {
      const fitting = countFitting(batch.records, room, nextOffset === null);
      if (fitting < batch.records.length) {
        const [taken, rest] = [batch.records.slice(0, fitting), batch.records.slice(fitting)];
        parts.push(taken);
        nextOffset = rest[0] && taken.length > 0 ? rest[0].offset : nextOffset;
        this.#batches[0] = { ...batch, records: rest };
        break;
      }
      parts.push(batch.records);
      nextOffset = batch.nextOffset;
      this.#batches.shift();
    }
    if (nextOffset === null || fetchedAt === undefined) {
      throw new RangeError('nothing is queued');
    }
    this.#bytes -= limit.bytes - room.bytes;
    return { records: parts.length === 1 ? (parts[0] ?? []) : parts.flat(), nextOffset, fetchedAt };
  }

  clear(): void {
    this.#batches = [];
    this.#bytes = 0;
  }
}

/** How many of the records fit into the room, which shrinks by them. @param needsOne whether the first one always fits */
function countFitting(
  records: readonly StreamRecord[],
  room: { records: number; bytes: number },
  needsOne: boolean,
): number {
  let count = 0;
  for (const record of records) {
    const bytes = recordBytes(record);
    const mustFit = needsOne && count === 0;
    if (!mustFit && (room.records < 1 || room.bytes < bytes)) {
      break;
    }
    room.records -= 1;
    room.bytes -= bytes;
    count += 1;
  }
  return count;
}
