import type { Clock } from '../../../app/stream/clock.ts';
import type { FatalError } from '../../../app/stream/fatal-error.ts';
import type { OnGap } from '../../../app/stream/out-of-range.ts';
import { OutageError } from '../../../app/stream/outage-error.ts';
import { Pipeline } from '../../../app/stream/pipeline.ts';
import type { RecordBatch, TopicPartition } from '../../../app/stream/record.ts';
import type { Gap, RecordSink, WriteOutcome, WriteRequest } from '../../../app/stream/record-sink.ts';
import type { LogRange, Position, RecordSource } from '../../../app/stream/record-source.ts';
import type { CommittedBatch, StreamListener } from '../../../app/stream/stream-listener.ts';
import { aBatch, PARTITION } from './records.ts';

/** How a transaction ends: `cut after` is committed, but nobody is told. */
export type Ending = 'answered' | 'cut before' | 'cut after';

/** PostgreSQL as the ten lines that matter: a stored offset, rows, and a compare-and-set that ties them together. */
export class SimulatedSink implements RecordSink {
  stored = 0n;
  readonly rows: bigint[] = [];
  readonly gaps: Gap[] = [];
  readonly pending: ((ending: Ending) => void)[] = [];

  async positions(): Promise<Position[]> {
    return [{ ...PARTITION, offset: this.stored }];
  }

  async initialize(): Promise<Position[]> {
    return this.positions();
  }

  async skip(gap: Gap): Promise<WriteOutcome> {
    this.gaps.push(gap);
    return this.write({ ...gap, records: [] });
  }

  async write(request: WriteRequest): Promise<WriteOutcome> {
    const ending = await new Promise<Ending>((resolve) => this.pending.push(resolve));
    const isFenced = request.expectedOffset !== this.stored;
    if (ending !== 'cut before' && !isFenced) {
      this.stored = request.nextOffset;
      this.rows.push(...request.records.map(({ offset }) => offset));
    }
    if (ending !== 'answered') {
      throw new OutageError('the connection was cut');
    }
    return isFenced
      ? { kind: 'fenced' }
      : { kind: 'committed', deadLetters: new Map(), rows: new Map([['copy', request.records.length]]) };
  }
}

/** A Kafka client that fetches from where it was sought, unless the test lets it go astray. */
export class SimulatedSource implements RecordSource {
  fetchFrom = 0n;
  logStart = 0n;
  isPaused = true;
  readonly end: bigint;

  constructor(end: bigint) {
    this.end = end;
  }

  /** The next batch of at most `length` records; the local position moves on, as kafkajs's does. */
  fetch(length: number): RecordBatch | null {
    const from = this.fetchFrom;
    const to = from + BigInt(length) < this.end ? from + BigInt(length) : this.end;
    if (this.isPaused || to <= from) {
      return null;
    }
    this.fetchFrom = to;
    return aBatch(from, to);
  }

  seek({ offset }: Position): void {
    this.fetchFrom = offset;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  async logRanges(): Promise<LogRange[]> {
    return [{ ...PARTITION, start: this.logStart, end: this.end }];
  }

  async committedOffsets(): Promise<Position[]> {
    return [];
  }

  async start(): Promise<void> {}
  async commitHint(): Promise<void> {}
  async stop(): Promise<void> {}
}

/** Keeps what it is told. */
class CountingListener implements StreamListener {
  committed = 0;
  readonly fenced: TopicPartition[] = [];
  readonly skipped: Gap[] = [];
  readonly failed: string[] = [];
  retries = 0;
  readonly pauses: boolean[] = [];

  onCommitted(batch: CommittedBatch): void {
    this.committed += batch.records;
  }

  onFenced(partition: TopicPartition): void {
    this.fenced.push(partition);
  }

  onSkipped(gap: Gap): void {
    this.skipped.push(gap);
  }

  onFailed(_partition: TopicPartition, error: Error): void {
    this.failed.push(error.message);
  }

  onRetry(): void {
    this.retries += 1;
  }

  onPaused(isPaused: boolean): void {
    this.pauses.push(isPaused);
  }
}

/** Waits are over at once, so a test never sleeps; time passes only when the test says so. */
class InstantClock implements Clock {
  #now = 0;

  now(): Date {
    return new Date(this.#now);
  }

  async wait(): Promise<void> {}

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

/** Lets everything that can go on without the outside go on. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A pipeline between a simulated source of `end` records and a simulated sink. */
export function setUp(end: bigint, sink = new SimulatedSink(), onGap: OnGap = 'fail') {
  const source = new SimulatedSource(end);
  const listener = new CountingListener();
  const fatal: FatalError[] = [];
  const clock = new InstantClock();
  const options = {
    groupId: 'group',
    startFrom: 'earliest',
    maxQueuedBytes: 1_000,
    maxBatchRecords: 5,
    stallTimeoutMs: 60_000,
    onGap,
  } as const;
  const onFatal = (error: FatalError) => fatal.push(error);
  const pipeline = new Pipeline(options, { source, sink, listener, clock, onFatal });
  return { source, sink, listener, fatal, pipeline, clock };
}

/** Answers every transaction that is under way, and those that follow from it. */
export async function answerAll(sink: SimulatedSink, ending: Ending = 'answered'): Promise<void> {
  await settle();
  for (let answer = sink.pending.shift(); answer; answer = sink.pending.shift()) {
    answer(ending);
    await settle();
  }
}
