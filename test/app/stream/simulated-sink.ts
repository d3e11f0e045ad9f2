import type { TopicPartition } from '../../../app/records/record.ts';
import { Records } from '../../../app/records/records.ts';
import type { Gap, RecordSink, WriteOutcome, WriteRequest } from '../../../app/stream/ports/record-sink.ts';
import type { Position } from '../../../app/stream/ports/record-source.ts';
import { FatalError, OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { PARTITION } from './records.ts';

/**
 * How a transaction ends: `cut after` is committed, but its answer is lost; `locked`: another one held the offset for
 * too long.
 */
export type Ending = 'answered' | 'cut before' | 'cut after' | 'locked';

/** A transaction that ends when and how the test says so. */
interface PendingWrite {
  (ending: Ending): void;
  readonly request: WriteRequest;
}

/** What is stored of a partition. */
interface StoredPartition extends TopicPartition {
  stored: bigint;
  readonly rows: bigint[];
}

/**
 * PostgreSQL as the lines that matter: stored offsets, rows, and a compare-and-set that ties them together. It refuses
 * what the real one refuses, an offset that does not move forward, and rows that the moved offset is not about.
 */
export class SimulatedSink implements RecordSink {
  /** How often stored offsets were asked for. */
  reads = 0;
  readonly requests: WriteRequest[] = [];
  readonly gaps: Gap[] = [];
  readonly pending: PendingWrite[] = [];
  /** Tables that do not fit, by their topics. */
  readonly misfitting = new Map<string, FatalError>();
  readonly #partitions: readonly StoredPartition[];

  /** @param partitions `PARTITION` is one of them */
  constructor(partitions: readonly TopicPartition[] = [PARTITION]) {
    this.#partitions = partitions.map((partition) => ({ ...partition, stored: 0n, rows: [] }));
  }

  of({ topic, partition }: TopicPartition): StoredPartition {
    const stored = this.#partitions.find((each) => each.topic === topic && each.partition === partition);
    return stored ?? { topic, partition, stored: 0n, rows: [] };
  }

  get stored(): bigint {
    return this.of(PARTITION).stored;
  }

  set stored(offset: bigint) {
    this.of(PARTITION).stored = offset;
  }

  get rows(): readonly bigint[] {
    return this.of(PARTITION).rows;
  }

  async positions(topics: readonly string[]): Promise<Position[]> {
    this.reads += 1;
    return this.#partitions
      .filter(({ topic }) => topics.includes(topic))
      .map(({ topic, partition, stored }) => ({ topic, partition, offset: stored }));
  }

  async adoptTopicIds(): Promise<void> {}

  async recordTables(): Promise<void> {}

  async initialize(topic: string, _choose: Parameters<RecordSink['initialize']>[1]): Promise<Position[]> {
    return this.positions([topic]);
  }

  async misfits(topics: readonly string[]): Promise<ReadonlyMap<string, FatalError>> {
    return new Map([...this.misfitting].filter(([topic]) => topics.includes(topic)));
  }

  async skip(gap: Gap): Promise<WriteOutcome> {
    this.gaps.push(gap);
    return this.write({ ...gap, records: Records.NONE });
  }

  async write(request: WriteRequest): Promise<WriteOutcome> {
    this.requests.push(request);
    requireFitting(request);
    const ending = await new Promise<Ending>((resolve) => {
      this.pending.push(Object.assign((how: Ending) => resolve(how), { request }));
    });
    const partition = this.of(request);
    const isFenced = request.expectedOffset !== partition.stored;
    if (ending === 'locked') {
      throw new OutageError('the offset is held', { isLockWait: true });
    }
    if (ending !== 'cut before' && !isFenced) {
      partition.stored = request.nextOffset;
      partition.rows.push(...Array.from(request.records, ({ offset }) => offset));
    }
    if (ending !== 'answered') {
      throw new OutageError('the connection was cut');
    }
    return isFenced
      ? { kind: 'fenced' }
      : { kind: 'committed', deadLetters: new Map(), rows: new Map([['copy', request.records.length]]) };
  }
}

function requireFitting({ expectedOffset, nextOffset, records }: WriteRequest): void {
  const offsets = [expectedOffset - 1n, ...Array.from(records, ({ offset }) => offset), nextOffset];
  const isForward =
    nextOffset > expectedOffset && offsets.every((offset, nth) => nth === 0 || offset > (offsets[nth - 1] ?? offset));
  if (!isForward) {
    throw new FatalError(
      'UNEXPECTED',
      `refused: from ${expectedOffset} to ${nextOffset} with the rows ${offsets.slice(1, -1)}`,
    );
  }
}
