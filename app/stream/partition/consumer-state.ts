import type { FatalCode } from '../../../contract/fatal-codes.ts';
import type { ErrorReason } from '../../../contract/metrics/definition.ts';
import type { TopicPartition } from '../../records/record.ts';
import { systemClock, timeOfDay } from '../ports/clock.ts';
import type { UnreadableBatch } from '../ports/record-source.ts';

/**
 * Where the consumer is in its life.
 *
 * - `starting`: no group was joined yet
 * - `assigning`: the group gave partitions, their positions are being read from PostgreSQL
 * - `running`: records flow
 * - `paused`: PostgreSQL is away; nothing is fetched, the group membership is kept
 * - `draining`: a signal arrived; what was fetched is being written
 * - `stopped`: all is written and closed
 * - `failed`: a fatal error; the process is about to end, and not with exit code 0
 */
export type ConsumerState = 'starting' | 'assigning' | 'running' | 'paused' | 'draining' | 'stopped' | 'failed';

/** One owned partition. */
export interface PartitionReport extends TopicPartition {
  /** The next offset that PostgreSQL expects; `null` until it was read. */
  readonly nextOffset: bigint | null;
  /**
   * Log end offset less `nextOffset`, never below 0; `null` until both are known, where the log ends below
   * `nextOffset`, and when the log's end is older than a minute.
   */
  readonly lag: bigint | null;
  /**
   * Milliseconds since the brokers reported the log's end, or that the partition has no leader; since the assignment
   * where they have not yet.
   * @default 0
   */
  readonly logEndAgeMs?: number;
  /** What has to be known before records can flow; left out once it is. */
  readonly awaits?: Awaited;
  /**
   * The timestamp of the oldest record that is not in PostgreSQL, or when it was fetched where that is earlier; where
   * none is fetched, when the partition was seen to fall behind. `null` where no record is known to wait.
   * @default null
   */
  readonly behindSince?: Date | null;
  /**
   * Since when neither anything was written nor the log's end was seen to be reached, once that is longer than
   * `consumer.stallTimeout`; left out while all is well. Outages count, too: whether there is one, the health checks
   * know.
   */
  readonly stalledSince?: Date;
  /**
   * Since when no broker leads the partition: nothing is known of its log, and nothing is awaited; left out while one
   * does, and when the brokers have not answered for 15 s.
   */
  readonly leaderlessSince?: Date;
  /** Schemas that the next batch waits for; left out while none does. */
  readonly schemasAwaited?: SchemasAwaited;
  /** The batch that the partition cannot get past; left out while what comes next can be read. */
  readonly unreadable?: UnreadableBatch;
  /** Since when its topic waits alone; left out while it does not. */
  readonly topicWaitsSince?: Date;
}

/** A batch that waits for schemas. */
interface SchemasAwaited {
  readonly since: Date;
  /** Why the last attempt to fetch them failed; `null` during the first one. */
  readonly reason: string | null;
}

/** One subscribed topic. */
export interface TopicReport {
  readonly topic: string;
  /** Whether Kafka does not have it any more, and has answered so for 5 s. */
  readonly isGone: boolean;
  /** How many partitions it has; left out where the last answer did not contain it. */
  readonly partitions?: number;
  /** How many of them have no leader; left out where that was not asked within a minute: the process owns none. */
  readonly leaderless?: number;
}

/** A topic that waits alone, while the others go on. */
export interface WaitingTopic {
  readonly topic: string;
  /** Of what it waits for; `database_busy`: its table takes no rows for now, as while it is locked. */
  readonly code: FatalCode | ErrorReason;
  /** What happened and what mends it, without secrets and without a record's content. */
  readonly message: string;
  readonly since: Date;
  /** Whether nobody wants the topic for now, by the settings: it needs no attention. */
  readonly isIgnored: boolean;
  /**
   * Until when Kafka keeps each unread record of the owned partitions, by `retention.ms`. Left out where that is not
   * known, and where there is no such limit or no unread record.
   */
  readonly keptUntil?: Date;
}

/** What a partition may have to wait for; `next offset in the log`: the log ends below it, or begins above it. */
export type Awaited = 'stored offset' | 'log end' | 'next offset in the log';

/** A snapshot of the consumer for health indicators and metrics; taking it costs nothing and waits for nothing. */
export interface ConsumerReport {
  readonly state: ConsumerState;
  /** Since when. @default not known */
  readonly stateSince?: Date;
  readonly groupId: string;
  /**
   * For how many milliseconds Kafka has been asked in vain about each topic: since it was first asked, or since it last
   * reported the topic. Left out once the group was joined; before, nothing is known of any partition.
   */
  readonly unjoined?: ReadonlyMap<string, number>;
  /**
   * When the group's coordinator last confirmed the membership, once that is longer ago than both
   * `consumer.stallTimeout` and `kafka.sessionTimeout`; left out before.
   */
  readonly outOfGroupSince?: Date;
  readonly partitions: readonly PartitionReport[];
  /**
   * The subscribed topics, as Kafka answered last.
   * @default none: Kafka has not answered yet, or not for a minute
   */
  readonly topics?: readonly TopicReport[];
  /** Topics that wait alone. Of their partitions neither lag nor stall is reported. @default none */
  readonly waiting?: readonly WaitingTopic[];
  /** When a transaction last committed; `null` before the first. */
  readonly lastProgressAt: Date | null;
  /** What went wrong last, without secrets and without a record's content; `null` when nothing did. */
  readonly lastError: string | null;
  /** When that was. @default `lastError` is `null` */
  readonly lastErrorAt?: Date;
}

/**
 * The only ways between the states:
 *
 * ```text
 * starting ─► assigning ─► running ◄─► paused
 *                 ▲  ▲________│___________│      (a rebalance assigns again)
 * any of these ─► draining ─► stopped
 * any but stopped ─► failed
 * ```
 *
 * `stopped` and `failed` are final, with one exception: a consumer that failed is still drained and closed in order,
 * but stays `failed`, since its exit code reports the failure.
 */
const CONSUMER_TRANSITIONS: Readonly<Record<ConsumerState, readonly ConsumerState[]>> = {
  starting: ['assigning', 'draining', 'failed'],
  assigning: ['running', 'paused', 'draining', 'failed'],
  running: ['assigning', 'paused', 'draining', 'failed'],
  paused: ['running', 'assigning', 'draining', 'failed'],
  draining: ['stopped', 'failed'],
  stopped: [],
  failed: [],
};

/** The state of the consumer; refuses a way that is not in {@link CONSUMER_TRANSITIONS}. */
export class Lifecycle {
  readonly #steady: () => Date;
  #state: ConsumerState = 'starting';
  #since: Date;

  /** @param steady the time of a clock that is never set. @default the machine's */
  constructor(steady: () => Date = systemClock.steady) {
    this.#steady = steady;
    this.#since = steady();
  }

  get state(): ConsumerState {
    return this.#state;
  }

  /** When the state began, by the steady clock. */
  get since(): Date {
    return this.#since;
  }

  /** Whether no state but `stopped` or `failed` can follow: the time of fetching is over. */
  get isEnding(): boolean {
    return this.#state === 'draining' || this.#state === 'stopped' || this.#state === 'failed';
  }

  /**
   * Goes to `state`; being there already is no change.
   *
   * @throws Error when there is no way from the current state: a mistake in the program, never in its input
   */
  to(state: ConsumerState): void {
    if (state === this.#state) {
      return;
    }
    if (!CONSUMER_TRANSITIONS[this.#state].includes(state)) {
      throw new Error(`lifecycle: there is no way from ${this.#state} to ${state}`);
    }
    this.#state = state;
    this.#since = this.#steady();
  }
}

/** Measures how long the batch in hand of a partition has been waiting for its schemas, over all attempts. */
export class SchemaWait {
  #since: Date | null = null;
  /** Why the last attempt failed. */
  #reason: string | null = null;

  /** Schemas are being fetched. Where that fails, the batch is fetched again and goes on waiting. */
  async during(fetching: Promise<void>, steadyNow: Date): Promise<void> {
    this.#since ??= steadyNow;
    try {
      await fetching;
    } catch (error) {
      this.#reason = error instanceof Error ? error.message : String(error);
      throw error;
    }
    this.end();
  }

  /** None is missing. */
  end(): void {
    this.#since = null;
    this.#reason = null;
  }

  report(steadyNow: Date, now: Date): Pick<PartitionReport, 'schemasAwaited'> {
    return this.#since === null
      ? {}
      : { schemasAwaited: { since: timeOfDay(this.#since, steadyNow, now), reason: this.#reason } };
  }
}

/** Since when the oldest batch of these partitions waits for schemas; `null` where none does. */
export function oldestSchemaWait(partitions: readonly PartitionReport[]): Date | null {
  const waits = partitions.flatMap(({ schemasAwaited }) => (schemasAwaited ? [schemasAwaited.since] : []));
  return waits.reduce<Date | null>((oldest, since) => (oldest === null || since < oldest ? since : oldest), null);
}
