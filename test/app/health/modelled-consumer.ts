import { consumerComponent } from '../../../app/health/consumer-health.ts';
import { type Health, stateComponent } from '../../../app/health/health.ts';
import { HealthEndpoint, healthGroups } from '../../../app/health/health-endpoint.ts';
import { UpTime } from '../../../app/health/refreshed-health.ts';
import { MemoryBudget } from '../../../app/memory/memory-budget.ts';
import { PartitionLag } from '../../../app/metrics/consumer/partition-lag.ts';
import { recordsOf } from '../../../app/records/pack-records.ts';
import type { TopicPartition } from '../../../app/records/record.ts';
import { Pipeline } from '../../../app/stream/pipeline.ts';
import { pollLogEnds } from '../../../app/stream/poll-log-ends.ts';
import type { RecordSink, WriteOutcome, WriteRequest } from '../../../app/stream/ports/record-sink.ts';
import type { PartitionLog, Position, RecordSource } from '../../../app/stream/ports/record-source.ts';
import { FatalError, OutageError } from '../../../app/stream/ports/stream-errors.ts';
import { streamLog } from '../../../app/stream/ports/stream-listener.ts';
import { managementOptions } from '../management/running-management.ts';
import { aRecord } from '../stream/records.ts';
import { settle } from '../stream/simulation.ts';
import { ModelClock } from './model-clock.ts';
import { ModelPartition, TOPIC } from './model-partition.ts';

export const STALL_TIMEOUT_MS = 15_000;
export const TICK_MS = 2_000;
const SESSION_TIMEOUT_MS = 10_000;
/** A fetch of a partition brings at most so many records. */
const FETCH_RECORDS = 4n;

/** `silent`: no answer about logs, and no records, while the health check is UP. */
export const KAFKA_STATES = ['up', 'away', 'silent', 'refusing'] as const;
/** `locked offsets`: neither read nor moved, while the health check is UP; no free connection looks the same. */
export const POSTGRES_STATES = ['up', 'away', 'locked offsets', 'locked records'] as const;

export type KafkaState = (typeof KAFKA_STATES)[number];
export type PostgresState = (typeof POSTGRES_STATES)[number];

const { settings } = managementOptions();

/** The consumer's own pipeline, poll of log ends, health and lag metrics between a Kafka and a PostgreSQL of a few lines. */
export class ModelledConsumer implements RecordSink, RecordSource {
  kafka: KafkaState = 'up';
  postgres: PostgresState = 'up';
  isMember = false;
  /** When the group last gave partitions; `null` before the first time. */
  assignedAt: number | null = null;
  readonly clock = new ModelClock();
  readonly partitions = [new ModelPartition(0), new ModelPartition(1)];
  owned: readonly ModelPartition[] = [];
  /** Those of them that the source has not revoked. */
  readonly #held = new Set<ModelPartition>();
  #expelledAt = 0;
  readonly fatal: FatalError[] = [];
  readonly lag: PartitionLag;
  readonly #pipeline: Pipeline;
  readonly #endpoint: HealthEndpoint;
  readonly #kafkaCheck = new UpTime(20_000);
  readonly #databaseCheck = new UpTime(20_000);
  readonly #ending = new AbortController();
  #unanswered: (() => void)[] = [];

  constructor() {
    const nothing = () => undefined;
    const log = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };
    this.#pipeline = new Pipeline(
      {
        groupId: 'group',
        startFrom: 'earliest',
        topics: () => [TOPIC],
        onTopicGone: 'continue',
        maxQueuedBytes: 1_000,
        maxBatchRecords: 5,
        stallTimeoutMs: STALL_TIMEOUT_MS,
        groupTimeoutMs: STALL_TIMEOUT_MS,
        ...{ onGap: 'fail', onBrokenBatch: 'stop' },
      },
      {
        source: this,
        sink: this,
        listener: streamLog(log),
        clock: this.clock,
        memory: new MemoryBudget(),
        onFatal: (error) => this.fatal.push(error),
      },
    );
    const report = () => this.#pipeline.report();
    this.lag = new PartitionLag(report, () => this.clock.now().getTime());
    this.#endpoint = new HealthEndpoint({
      ...healthGroups(settings.management),
      components: this.#components(report),
      outsideRoot: ['kafka'],
    });
    void pollLogEnds(this, this.#pipeline, this.clock, this.#ending.signal);
  }

  #components(report: Pipeline['report']) {
    const { clock } = this;
    const part = (upTime: UpTime, isAway: () => boolean) => ({
      current: (): Health => ({ status: isAway() ? 'DOWN' : 'UP' }),
      get upForMs() {
        return upTime.ms(clock.ms);
      },
    });
    const kafka = part(this.#kafkaCheck, () => this.kafka === 'away');
    const database = part(this.#databaseCheck, () => this.postgres === 'away');
    return [
      stateComponent('kafka', kafka.current),
      stateComponent('db', database.current),
      stateComponent('readinessState', () => ({ status: 'UP' })),
      consumerComponent(report, { kafka, database, stallTimeoutMs: STALL_TIMEOUT_MS }),
    ];
  }

  get areReachable(): boolean {
    return this.kafka !== 'away' && this.postgres !== 'away';
  }

  get isAllWell(): boolean {
    return this.kafka === 'up' && this.postgres === 'up' && this.isMember;
  }

  /** The group gives these partitions; before, the process may have been out of it. */
  assign(partitions: readonly number[]): void {
    this.isMember = true;
    this.assignedAt = this.clock.ms;
    this.owned = this.partitions.filter(({ place }) => partitions.includes(place.partition));
    this.#revoke(this.owned);
    const added = this.owned.filter((partition) => !this.#held.has(partition));
    for (const partition of added) {
      this.#held.add(partition);
      partition.toldAt = null;
      partition.openedAt = null;
      partition.writtenAt = this.clock.ms;
    }
    const places = (of: readonly ModelPartition[]) => of.map(({ place }) => place);
    this.#pipeline.onAssigned({ added: places(added), owned: places(this.owned) });
  }

  /** The coordinator does not know the process any more, which it learns after the session time-out. */
  expel(): void {
    this.isMember = false;
    this.#expelledAt = this.clock.ms;
  }

  #revoke(kept: readonly ModelPartition[]): void {
    const revoked = [...this.#held].filter((partition) => !kept.includes(partition));
    for (const partition of revoked) {
      this.#held.delete(partition);
      partition.isResumed = false;
    }
    void this.#pipeline.onRevoked(revoked.map(({ place }) => place));
  }

  /** A tick of time, with all that happens in it. */
  async tick(): Promise<void> {
    this.clock.pass(TICK_MS);
    this.#kafkaCheck.result(this.kafka === 'away' ? 'DOWN' : 'UP', this.clock.ms);
    this.#databaseCheck.result(this.postgres === 'away' ? 'DOWN' : 'UP', this.clock.ms);
    if (this.isMember && this.kafka !== 'away') {
      this.#pipeline.onHeartbeat();
    }
    if (!this.isMember && this.clock.ms - this.#expelledAt > SESSION_TIMEOUT_MS) {
      this.#revoke([]);
    }
    if (this.kafka !== 'silent') {
      for (const answer of this.#unanswered.splice(0)) answer();
    }
    await settle();
    for (const partition of this.owned) this.#fetch(partition);
    await settle();
    for (const partition of this.partitions) {
      partition.leaderlessAt = partition.isLed ? partition.leaderlessAt : this.clock.ms;
      partition.caughtUpAt = partition.stored === partition.end ? this.clock.ms : partition.caughtUpAt;
    }
  }

  #fetch(partition: ModelPartition): void {
    const { place, end, fetchFrom: from, isResumed, timestamp } = partition;
    if (!partition.isLed || !isResumed || !this.isMember || this.kafka !== 'up' || from >= end) {
      return;
    }
    const to = from + FETCH_RECORDS < end ? from + FETCH_RECORDS : end;
    const records = Array.from({ length: Number(to - from) }, (_, nth) => aRecord(from + BigInt(nth), { timestamp }));
    partition.fetchFrom = to;
    this.#pipeline.onFetched({ ...place, records: recordsOf(records), fetchedOffset: from, nextOffset: to });
  }

  async health(): Promise<{ root: string; readiness: string; lag: unknown }> {
    const root = (await this.#endpoint.find([], true)).report;
    const readiness = (await this.#endpoint.find(['readiness'], true))?.report;
    const details = root.components?.['consumer']?.details;
    return { root: root.status, readiness: readiness?.status ?? 'UNKNOWN', lag: details?.['lag'] };
  }

  /** Ends the poll; nothing keeps waiting. */
  async end(): Promise<void> {
    this.#ending.abort();
    for (const answer of this.#unanswered.splice(0)) answer();
    await this.#pipeline.drain();
    await this.#pipeline.close();
  }

  // PostgreSQL

  async positions(): Promise<Position[]> {
    this.#refuseWhile('away', 'locked offsets');
    return this.partitions.flatMap(({ place, stored }) => (stored === null ? [] : { ...place, offset: stored }));
  }

  async initialize(_topic: string, choose: Parameters<RecordSink['initialize']>[1]): Promise<Position[]> {
    const stored = await this.positions();
    for (const { partition, offset } of choose(new Set(stored.map((position) => position.partition)))) {
      this.#of(partition).stored = offset;
    }
    return this.positions();
  }

  async write({ partition, expectedOffset, nextOffset, records }: WriteRequest): Promise<WriteOutcome> {
    this.#refuseWhile('away', 'locked offsets', 'locked records');
    const written = this.partitions[partition];
    if (written?.stored !== expectedOffset) {
      return { kind: 'fenced' };
    }
    written.stored = nextOffset;
    written.writtenAt = this.clock.ms;
    return { kind: 'committed', deadLetters: new Map(), rows: new Map([['copy', records.length]]) };
  }

  async skip(): Promise<WriteOutcome> {
    throw new FatalError('UNEXPECTED', 'no offset of the model is ever deleted');
  }

  #refuseWhile(...states: readonly PostgresState[]): void {
    if (states.includes(this.postgres)) {
      throw new OutageError(`PostgreSQL: ${this.postgres}`);
    }
  }

  // Kafka

  async #answer(): Promise<void> {
    if (this.kafka === 'silent') {
      await new Promise<void>((answer) => this.#unanswered.push(answer));
    }
    if (this.kafka !== 'up') {
      throw new OutageError(`Kafka: ${this.kafka}`);
    }
  }

  knowsEpoch = async (): Promise<boolean> => true;
  topicIds = (): Promise<ReadonlyMap<string, string>> => this.#answer().then(() => new Map());
  requireListed = async (): Promise<void> => undefined;

  async logRanges(): Promise<PartitionLog[]> {
    await this.#answer();
    for (const partition of this.owned) partition.toldAt = this.clock.ms;
    return this.partitions.map(({ place, end, isLed }) =>
      isLed ? { ...place, start: 0n, end } : { ...place, isLeaderless: true },
    );
  }

  seek({ partition, offset }: Position): void {
    const sought = this.#of(partition);
    sought.fetchFrom = offset;
    sought.openedAt ??= this.clock.ms;
  }

  pause({ partition }: TopicPartition): void {
    this.#of(partition).isResumed = false;
  }

  resume({ partition }: TopicPartition): void {
    this.#of(partition).isResumed = true;
  }

  #of(partition: number): ModelPartition {
    return this.partitions[partition] ?? new ModelPartition(partition);
  }

  claim = async (): Promise<void> => undefined;
  adoptTopicIds = async (): Promise<void> => undefined;
  recordTables = async (): Promise<void> => undefined;
  misfits = async (): Promise<ReadonlyMap<string, FatalError>> => new Map();
  committedOffsets = async (): Promise<Position[]> => [];
  start = async (): Promise<void> => undefined;
  commitHint = async (): Promise<void> => undefined;
  handOver = async (): Promise<boolean> => false;
  stop = async (): Promise<void> => undefined;
}
