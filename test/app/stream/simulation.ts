import { MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { partitionKey, type TopicPartition } from '../../../app/records/record.ts';
import type { OnBrokenBatch, OnGap, StartFrom } from '../../../app/stream/partition/positions.ts';
import type { StreamPorts } from '../../../app/stream/partition/stream-ports.ts';
import type { WaitingOptions } from '../../../app/stream/partition/waiting-topics.ts';
import { Pipeline } from '../../../app/stream/pipeline.ts';
import type { Clock } from '../../../app/stream/ports/clock.ts';
import type { Gap } from '../../../app/stream/ports/record-sink.ts';
import type { FetchedRecords, PartitionLog, Position, RecordSource } from '../../../app/stream/ports/record-source.ts';
import type { FatalError } from '../../../app/stream/ports/stream-errors.ts';
import type { CommittedBatch, StreamListener } from '../../../app/stream/ports/stream-listener.ts';
import type { OnTopicGone } from '../../../app/stream/subscribed-topics.ts';
import { aBatch, PARTITION } from './records.ts';
import { type Ending, SimulatedSink } from './simulated-sink.ts';

/** Where a partition is fetched. */
class SimulatedFetch {
  fetchFrom = 0n;
  isPaused = true;
  /** The calls of seek, pause and resume, in order. */
  readonly told: string[] = [];
}

/** A Kafka client that fetches from where it was sought, unless the test lets it go astray. */
class SimulatedSource implements RecordSource {
  logStart = 0n;
  readonly end: bigint;
  readonly #fetches = new Map<string, SimulatedFetch>();

  constructor(end: bigint) {
    this.end = end;
  }

  of(partition: TopicPartition): SimulatedFetch {
    const fetch = this.#fetches.get(partitionKey(partition)) ?? new SimulatedFetch();
    this.#fetches.set(partitionKey(partition), fetch);
    return fetch;
  }

  get fetchFrom(): bigint {
    return this.of(PARTITION).fetchFrom;
  }

  get isPaused(): boolean {
    return this.of(PARTITION).isPaused;
  }

  get told(): string[] {
    return this.of(PARTITION).told;
  }

  /** The next batch of at most `length` records; the local position moves on, as that of a fetcher does. */
  fetch(length: number, { topic, partition }: TopicPartition = PARTITION): FetchedRecords | null {
    const fetch = this.of({ topic, partition });
    const from = fetch.fetchFrom;
    const to = from + BigInt(length) < this.end ? from + BigInt(length) : this.end;
    if (fetch.isPaused || to <= from) {
      return null;
    }
    fetch.fetchFrom = to;
    return { ...aBatch(from, to), topic, partition };
  }

  seek({ offset, ...partition }: Position): void {
    const fetch = this.of(partition);
    fetch.fetchFrom = offset;
    fetch.told.push(`seek ${offset}`);
  }

  pause(partition: TopicPartition = PARTITION): void {
    const fetch = this.of(partition);
    fetch.isPaused = true;
    fetch.told.push('pause');
  }

  resume(partition: TopicPartition): void {
    const fetch = this.of(partition);
    fetch.isPaused = false;
    fetch.told.push('resume');
  }

  async logRanges(_topic: string): Promise<PartitionLog[]> {
    return [{ ...PARTITION, start: this.logStart, end: this.end }];
  }

  async knowsEpoch(): Promise<boolean> {
    return true;
  }

  async topicIds(): Promise<ReadonlyMap<string, string>> {
    return new Map();
  }

  async requireListed(_topics: Iterable<string>): Promise<void> {}

  async committedOffsets(_topic: string): Promise<Position[]> {
    return [];
  }

  async start(): Promise<void> {}
  async claim(_signal: AbortSignal): Promise<void> {}
  async commitHint(): Promise<void> {}
  async stop(): Promise<void> {}

  async handOver(): Promise<boolean> {
    return false;
  }
}

/** Keeps the events. */
class CountingListener implements StreamListener {
  committed = 0;
  readonly fenced: TopicPartition[] = [];
  readonly handovers: TopicPartition[] = [];
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

  onHandover(partition: TopicPartition): void {
    this.handovers.push(partition);
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

/** Waits are over at once, or when the test says so; it never sleeps, and time passes only when the test says so. */
export class SimulatedClock implements Clock {
  #now = 0;
  #held: { readonly ms: number; readonly end: () => void }[] | null = null;
  #isHeld: (ms: number) => boolean = () => true;
  #setBy = 0;

  now(): Date {
    return new Date(this.#now + this.#setBy);
  }

  /** Another time than that of day, so that nothing can mix the two. */
  steady(): Date {
    return new Date(this.#now - 86_400_000);
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    const held = this.#held;
    if (held !== null && this.#isHeld(ms) && !signal?.aborted) {
      await new Promise<void>((end) => {
        held.push({ ms, end });
        signal?.addEventListener('abort', () => end());
      });
    }
  }

  /** From now on a wait lasts until {@link endWaits}. @param isHeld which ones, by their length. @default all */
  holdWaits(isHeld: (ms: number) => boolean = () => true): void {
    this.#held = [];
    this.#isHeld = isHeld;
  }

  /** Ends what is being waited for, where only some of it by its length, and tells how long each wait would have been. */
  endWaits(isEnded: (ms: number) => boolean = () => true): number[] {
    const held = this.#held?.splice(0) ?? [];
    const ended = held.filter(({ ms }) => isEnded(ms));
    this.#held?.push(...held.filter(({ ms }) => !isEnded(ms)));
    for (const { end } of ended) {
      end();
    }
    return ended.map(({ ms }) => ms);
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Sets the time of day. */
  set(by: number): void {
    this.#setBy += by;
  }
}

/** Lets everything that can go on without the outside go on. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface SetUpOptions {
  readonly startFrom?: StartFrom;
  readonly topics?: () => readonly string[];
  readonly onTopicGone?: OnTopicGone;
  /** @default no topic is taken by a template alone */
  readonly isTemplated?: (topic: string) => boolean;
  readonly memory?: MemoryBudget;
  /** @default stop */
  readonly onBrokenBatch?: OnBrokenBatch;
  /** @default nothing is ever missing */
  readonly prepare?: NonNullable<StreamPorts['prepare']>;
  /** @default no topic may wait */
  readonly waiting?: WaitingOptions;
}

/** A pipeline between a simulated source of `end` records and a simulated sink. */
export function setUp(
  end: bigint,
  sink = new SimulatedSink(),
  onGap: OnGap = 'fail',
  { memory = new MemoryBudget(), prepare, waiting, ...more }: SetUpOptions = {},
) {
  const source = new SimulatedSource(end);
  const listener = new CountingListener();
  const fatal: FatalError[] = [];
  const clock = new SimulatedClock();
  const options = {
    groupId: 'group',
    topics: () => [PARTITION.topic],
    onTopicGone: 'continue',
    startFrom: 'earliest',
    maxQueuedBytes: 1_000,
    maxBatchRecords: 5,
    stallTimeoutMs: 60_000,
    groupTimeoutMs: 60_000,
    onGap,
    onBrokenBatch: 'stop',
    ...more,
  } as const;
  const onFatal = (error: FatalError) => fatal.push(error);
  const ports = { source, sink, listener, clock, memory, onFatal, ...(prepare && { prepare }), ...waiting };
  const pipeline = new Pipeline(options, ports);
  return { source, sink, listener, fatal, pipeline, clock, memory };
}

/** After so long no change of owners explains what another writer did. */
export const AFTER_HANDOVER_MS = 10_001;

/** A generation of a group that stops for each: what was owned is revoked, and these partitions are added. */
export function assignAnew(pipeline: Pipeline, partitions: readonly TopicPartition[]): void {
  void pipeline.onRevoked(pipeline.report().partitions);
  pipeline.onAssigned({ added: partitions, owned: partitions });
}

/** The same, with the partition assigned and its position read. */
export async function setUpOpened(
  end: bigint,
  sink = new SimulatedSink(),
  onGap: OnGap = 'fail',
  more: SetUpOptions = {},
) {
  const parts = setUp(end, sink, onGap, more);
  assignAnew(parts.pipeline, [PARTITION]);
  await settle();
  return parts;
}

/** Answers every transaction that is under way, and those that follow from it. */
export async function answerAll(sink: SimulatedSink, ending: Ending = 'answered'): Promise<void> {
  await settle();
  for (let answer = sink.pending.shift(); answer; answer = sink.pending.shift()) {
    answer(ending);
    await settle();
  }
}
