import { partitionKey, type TopicPartition } from '../../records/record.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import type { Assignment } from '../group/group-member.ts';
import type { PartitionsById } from './consumer-group-heartbeat.ts';

const NO_PARTITIONS: PartitionsById = new Map();

/** The names of new topics are waited for this long; they are asked for again with each heartbeat. */
const NAMES_MS = 1_000;

interface ReconciliationPorts {
  readonly clock: Clock;
  /** The ids of the subscribed topics by their names; those that the brokers do not have are left out. */
  readonly topicIds: () => Promise<ReadonlyMap<string, string>>;
  /** Resolves when nothing of what is revoked is written any more. */
  readonly onAssigned: (assignment: Pick<Assignment, 'owned' | 'added' | 'revoked'>) => Promise<void>;
  /** There may be something to acknowledge. */
  readonly onReconciled: () => void;
}

/**
 * What a member of KIP-848 owns, and the way from there to what the coordinator assigns.
 *
 * Why no partition is acknowledged as given up while it is written: {@link owned} becomes an assignment only behind the
 * promise of the listener, and loses nothing in another way but by {@link drop}, whose caller was expelled. One
 * assignment is reconciled after the other, and of those that come meanwhile the newest counts.
 *
 * A topic whose name is not known yet is owned all the same, and opened once it is: the coordinator would wait for it.
 */
export class Reconciliation {
  readonly #ports: ReconciliationPorts;
  readonly #names = new Map<string, string>();
  #target: PartitionsById | null = null;
  #owned = NO_PARTITIONS;
  #open: readonly TopicPartition[] = [];
  #work: Promise<void> | null = null;
  #isReported = false;
  /** Counts what is dropped: a wait that began before is about nothing any more. */
  #drops = 0;
  #targetSince = 0;
  #changedSince: number | null = null;

  constructor(ports: ReconciliationPorts) {
    this.#ports = ports;
  }

  /** What the member reports to own; another object each time that it changes. */
  get owned(): PartitionsById {
    return this.#owned;
  }

  /** What the listener has. */
  get open(): readonly TopicPartition[] {
    return this.#open;
  }

  /** @param since when the change began, in milliseconds of the steady clock */
  assign(target: PartitionsById, since: number): void {
    this.#target = target;
    this.#targetSince = since;
    this.#work ??= this.#reconcile();
  }

  /** Asks for names that were not known. */
  learnAgain(since: number): void {
    if (this.#work === null && this.#unnamed(this.#owned).length > 0) {
      this.assign(this.#owned, since);
    }
  }

  /** Resolves once nothing of what was given up is written any more. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** The member was expelled: it owns nothing, and what comes next is a first assignment. */
  drop(): void {
    this.#drops += 1;
    this.#target = null;
    this.#owned = NO_PARTITIONS;
    this.#open = [];
    this.#isReported = false;
    this.#changedSince = null;
  }

  /** When the change began that the coordinator has heard of by now; null where nothing changed, or not all is done. */
  settle(reported: PartitionsById): number | null {
    const since = this.#changedSince;
    if (this.#work !== null || reported !== this.#owned || since === null) {
      return null;
    }
    this.#changedSince = null;
    return since;
  }

  async #reconcile(): Promise<void> {
    for (let target = this.#next(); target !== null; target = this.#next()) {
      const drops = this.#drops;
      await this.#learn(target);
      if (drops === this.#drops) {
        await this.#move(target, drops);
      }
    }
    this.#work = null;
    this.#ports.onReconciled();
  }

  #next(): PartitionsById | null {
    const target = this.#target;
    this.#target = null;
    return target;
  }

  async #move(target: PartitionsById, drops: number): Promise<void> {
    const owned = [...target].flatMap(([topicId, numbers]) => {
      const topic = this.#names.get(topicId);
      return topic === undefined ? [] : numbers.map((partition) => ({ topic, partition }));
    });
    const added = without(owned, this.#open);
    const revoked = without(this.#open, owned);
    if (!this.#isReported || added.length + revoked.length > 0) {
      this.#isReported = true;
      this.#changedSince ??= this.#targetSince;
      this.#open = owned;
      await this.#ports.onAssigned({ owned, added, revoked });
    }
    if (drops === this.#drops) {
      this.#owned = target;
    }
  }

  #unnamed(target: PartitionsById): readonly string[] {
    return [...target.keys()].filter((topicId) => !this.#names.has(topicId));
  }

  async #learn(target: PartitionsById): Promise<void> {
    if (this.#unnamed(target).length === 0) {
      return;
    }
    const asked = this.#ports.topicIds().then(
      (ids) => {
        for (const [topic, topicId] of ids) {
          this.#names.set(topicId, topic);
        }
      },
      () => undefined,
    );
    const ending = new AbortController();
    await Promise.race([asked, this.#ports.clock.wait(NAMES_MS, ending.signal)]);
    ending.abort();
  }
}

function without(all: readonly TopicPartition[], others: readonly TopicPartition[]): readonly TopicPartition[] {
  const keys = new Set(others.map(partitionKey));
  return all.filter((partition) => !keys.has(partitionKey(partition)));
}
