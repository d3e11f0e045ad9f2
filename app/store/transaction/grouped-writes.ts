import { partitionKey } from '../../records/record.ts';
import type { WriteOutcome, WriteRequest } from '../../stream/ports/record-sink.ts';
import { FatalError, OutageError } from '../../stream/ports/stream-errors.ts';
import { TableTurns } from './table-turns.ts';

/** Bytes of the records that a group writes at most; a single request may have more. */
const MOST_GROUP_BYTES = 2 * 1_048_576;

/**
 * Groups that are written at the same time. More are smaller, and each transaction costs the same: two cores write 1.8
 * times as many rows a second with two as with four (docs/performance.md).
 */
const GROUPS_AT_ONCE = 2;

/** A group that takes longer waits for something, such as the lock of a table, and the others go on beside it. */
const STALLED_AFTER_MS = 100;

/**
 * Requests of a group that are written again together, without those of the table that it met: few enough that a second
 * such table holds up few others, and far fewer transactions than one for each.
 */
const MOST_AGAIN = 16;

/** How requests are written. */
interface Writers {
  /**
   * One request in a transaction alone.
   *
   * @param isPatient whether it waits for a lock as long as a statement may, or for some seconds
   */
  alone(request: WriteRequest, isPatient: boolean): Promise<WriteOutcome>;
  /** Requests in one transaction: an outcome for each, or `null` when nothing was written and each has to go alone. */
  together(requests: readonly WriteRequest[]): Promise<readonly WriteOutcome[] | null>;
  /** Names of the tables of a topic, as outages have them. */
  tablesOf(topic: string): readonly string[];
  /** Whether all requests are for one table, which holds up no other one. */
  isOneTable(): boolean;
}

/** Bounds of the groups. */
interface GroupLimits {
  /** Records that one transaction writes at most. */
  readonly maxBatchRecords: number;
  /** Connections: groups that are written at the same time at most, where some wait. */
  readonly poolSize: number;
}

interface Waiting {
  readonly request: WriteRequest;
  readonly resolve: (outcome: WriteOutcome | Promise<WriteOutcome>) => void;
  readonly reject: (error: unknown) => void;
  /** The requests that are written again with it; `undefined` before a group of it failed. */
  readonly again?: object;
}

/** A group that is being written. */
interface Group {
  readonly requests: readonly Waiting[];
  /** Milliseconds of a monotonic clock. */
  readonly begun: number;
}

/**
 * Writes requests of many partitions in one transaction, as databases commit in groups: the cost of a transaction is
 * shared by all that come at the same time. No request waits for others to come: those of one turn of the event loop go
 * together, and while two groups are written, the next one gathers. A group that waits for something does not count:
 * others go on beside it, as long as there are connections, without its tables, which may be what it waits for.
 *
 * Each request is answered once: by the group that committed it, by the transaction that it had alone, or by the error
 * of either.
 *
 * The partitions of a group that could not be written are suspects, and go alone until they have committed alone, and
 * without dead letters: so one that fails again and again takes the others along once.
 *
 * A table that takes no rows for now, or does not fit, holds up no other one: a group that met it is written again in
 * small groups without its requests, and where one of these fails, each request alone. Until the table takes rows its
 * requests go alone, and one of them at a time waits for it.
 */
export class GroupedWrites {
  readonly #writers: Writers;
  readonly #mostRecords: number;
  readonly #connections: number;
  #waiting: Waiting[] = [];
  #isAwaited = false;
  readonly #groups = new Set<Group>();
  #nextWrite: NodeJS.Timeout | null = null;
  readonly #suspects = new Set<string>();
  readonly #turns = new TableTurns();

  constructor(writers: Writers, { maxBatchRecords, poolSize }: GroupLimits) {
    this.#writers = writers;
    this.#mostRecords = maxBatchRecords;
    this.#connections = poolSize;
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    const isSuspect = request.records.length === 0 || this.#suspects.has(partitionKey(request));
    if (isSuspect || this.#turns.isHeldUp(() => this.#writers.tablesOf(request.topic))) {
      return this.#writeAlone(request);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#writeAfterThisTurn();
    });
  }

  async #writeAlone(request: WriteRequest): Promise<WriteOutcome> {
    const tables = () => this.#writers.tablesOf(request.topic);
    const outcome = await this.#turns.write(tables, (isPatient) => this.#writers.alone(request, isPatient));
    if (outcome.kind === 'committed' && outcome.deadLetters.size === 0) {
      this.#suspects.delete(partitionKey(request));
    }
    return outcome;
  }

  /** A fetch hands its batches of the other partitions on in this turn of the event loop. */
  #writeAfterThisTurn(): void {
    if (this.#isAwaited) {
      return;
    }
    this.#isAwaited = true;
    setImmediate(() => {
      this.#isAwaited = false;
      this.#writeWaiting();
    });
  }

  /** One group in a turn: others have theirs in between. */
  #writeWaiting(): void {
    if (this.#waiting.length === 0 || this.#groups.size >= this.#connections) {
      return;
    }
    const now = performance.now();
    const isStalled = ({ begun }: Group) => now - begun >= STALLED_AFTER_MS;
    const moving = [...this.#groups].filter((group) => !isStalled(group));
    if (moving.length >= GROUPS_AT_ONCE) {
      this.#writeAgainIn(STALLED_AFTER_MS - now + Math.min(...moving.map(({ begun }) => begun)));
      return;
    }
    const stalled = this.#writers.isOneTable() ? [] : [...this.#groups].filter(isStalled);
    const requests = this.#takeGroup(this.#tablesOf(stalled));
    if (requests.length === 0) {
      return;
    }
    const group = { requests, begun: now };
    this.#groups.add(group);
    void this.#writeTogether(requests).then(() => {
      this.#groups.delete(group);
      clearTimeout(this.#nextWrite ?? undefined);
      this.#nextWrite = null;
      this.#writeAfterThisTurn();
    });
    this.#writeAfterThisTurn();
  }

  /** Unless one ends before: when the time is over, the oldest group may wait for something. */
  #writeAgainIn(milliseconds: number): void {
    this.#nextWrite ??= setTimeout(() => {
      this.#nextWrite = null;
      this.#writeWaiting();
    }, Math.ceil(milliseconds));
  }

  #tablesOf(groups: readonly Group[]): Set<string> {
    const topics = new Set(groups.flatMap(({ requests }) => requests.map(({ request }) => request.topic)));
    return new Set([...topics].flatMap((topic) => this.#writers.tablesOf(topic)));
  }

  /**
   * @param stalled tables that a group may be waiting for; those of a request that waits for one of them are added, so
   * that no later one comes before it
   */
  #takeGroup(stalled: Set<string>): readonly Waiting[] {
    const group = new Set<Waiting>();
    let [first, records, bytes] = [undefined as Waiting | undefined, 0, 0];
    for (const each of this.#waiting) {
      const { request, again } = each;
      const tables = stalled.size === 0 ? [] : this.#writers.tablesOf(request.topic);
      if (tables.some((table) => stalled.has(table))) {
        for (const table of tables) {
          stalled.add(table);
        }
        continue;
      }
      first ??= each;
      records += request.records.length;
      bytes += request.records.bytes;
      const isFull = records > this.#mostRecords || bytes > MOST_GROUP_BYTES;
      if (group.size > 0 && (isFull || again !== first.again)) {
        break;
      }
      group.add(each);
    }
    this.#waiting = this.#waiting.filter((each) => !group.has(each));
    return [...group];
  }

  /** Never rejects, and waits for no transaction but the group's: a request that goes alone may wait for a lock. */
  async #writeTogether(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#writers.together(group.map(({ request }) => request));
      if (outcomes === null) {
        this.#suspect(group);
      }
      for (const [index, { request, resolve }] of group.entries()) {
        resolve(outcomes?.[index] ?? this.#writeAlone(request));
      }
    } catch (error) {
      const isOfTable = this.#turns.note(error) || (error instanceof OutageError && error.table !== undefined);
      const goAlone = isOfTable || (error instanceof FatalError && error.isOfTopic);
      const others = goAlone ? this.#withoutMet(group, error) : [];
      const failed = group.filter((each) => !others.includes(each));
      this.#releaseHeldUp();
      this.#suspect(failed);
      for (const { request, resolve, reject } of failed) {
        goAlone ? resolve(this.#writeAlone(request)) : reject(error);
      }
      this.#writeAgain(others);
    }
  }

  /** The requests of a group that have nothing to do with what it met; none where that is not known, or met again. */
  #withoutMet(group: readonly Waiting[], error: unknown): readonly Waiting[] {
    const isMet = ({ topic }: WriteRequest): boolean => {
      const tables = this.#writers.tablesOf(topic);
      const isNamed = error instanceof OutageError ? tables.some((table) => table === error.table) : false;
      const isOfTopic = error instanceof FatalError && error.topic === topic;
      return isNamed || isOfTopic || this.#turns.isHeldUp(() => tables);
    };
    const others = group.filter(({ request, again }) => again === undefined && !isMet(request));
    return others.length < group.length ? others : [];
  }

  /** Requests that came before their table was known to be held up would make their group wait for it, too. */
  #releaseHeldUp(): void {
    const isHeldUp = ({ request }: Waiting) => this.#turns.isHeldUp(() => this.#writers.tablesOf(request.topic));
    const heldUp = this.#waiting.filter(isHeldUp);
    this.#waiting = this.#waiting.filter((each) => !heldUp.includes(each));
    for (const { request, resolve } of heldUp) {
      resolve(this.#writeAlone(request));
    }
  }

  /** Small groups, before what came later. Nothing of the requests was written. */
  #writeAgain(others: readonly Waiting[]): void {
    const parts = Array.from({ length: Math.ceil(others.length / MOST_AGAIN) }, () => ({}));
    this.#waiting.unshift(
      ...others.map((each, nth) => ({ ...each, again: parts[Math.floor(nth / MOST_AGAIN)] ?? {} })),
    );
  }

  #suspect(group: readonly Waiting[]): void {
    for (const { request } of group) {
      this.#suspects.add(partitionKey(request));
    }
  }
}
