import type { Coordinator, InGeneration, Joined } from '../../../../app/kafka/group/coordinator.ts';
import type { SimulatedGroup } from './simulated-group.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** A request that nobody answers fails after this time. */
const TIMEOUT_MS = 30_000;

/** How a request ends whose connection is cut. */
export const lost = () =>
  Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError', retriable: true });

/** What is at the other end of a link. */
interface LinkedWorld {
  readonly time: SimulatedTime;
  readonly group: SimulatedGroup;
}

/** The way from a member to the coordinator. */
export class SimulatedLink implements Coordinator {
  readonly #world: LinkedWorld;
  readonly #open = new Set<(error: Error) => void>();
  readonly #openJoins = new Set<(error: Error) => void>();
  /** Nothing arrives before. */
  cutUntil = 0;
  /** The next request of this name arrives, and its answer does not. */
  loses: string | null = null;
  /** Requests of these names are never answered. */
  unanswered: ReadonlySet<string> = new Set();
  /** No broker returns the member's topics. */
  knowsNoTopics = false;
  /** How long the brokers take to return topics. */
  topicsMs = 0;
  /** Which of all deals arrived last; 0: none. */
  deal = 0;
  /** The requests that arrived, by their names. */
  readonly sent: string[] = [];

  constructor(world: LinkedWorld) {
    this.#world = world;
  }

  get isCut(): boolean {
    return this.#world.time.milliseconds < this.cutUntil;
  }

  join(memberId: string, metadata: ReadonlyMap<string, Buffer>): Promise<Joined> {
    return this.#ask('join', (group) => group.join(memberId, metadata));
  }

  async sync(member: InGeneration, dealt: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    const { deal, assignment } = await this.#ask('sync', (group) => group.sync(member, dealt));
    this.deal = deal;
    return assignment;
  }

  beat(member: InGeneration): Promise<void> {
    return this.#ask('beat', (group) => group.beat(member));
  }

  leave(memberId: string): Promise<void> {
    return this.#ask('leave', (group) => group.leave(memberId));
  }

  commit(_member: InGeneration): Promise<void> {
    return this.#ask('commit', () => undefined);
  }

  describe() {
    return this.#ask('describe', (group) => group.describe());
  }

  cutJoin(): void {
    for (const reject of this.#openJoins) reject(lost());
  }

  forget(): void {
    for (const reject of [...this.#open, ...this.#openJoins]) reject(lost());
  }

  close(): void {
    this.forget();
  }

  async #ask<T>(name: string, ask: (group: SimulatedGroup) => T | Promise<T>): Promise<T> {
    const open = name === 'join' || name === 'sync' ? this.#openJoins : this.#open;
    let reject = (_error: Error): void => undefined;
    const broken = new Promise<never>((_resolve, rejectBroken) => {
      reject = rejectBroken;
    });
    open.add(reject);
    try {
      return await Promise.race([broken, this.#answer(name, ask)]);
    } finally {
      open.delete(reject);
    }
  }

  async #answer<T>(name: string, ask: (group: SimulatedGroup) => T | Promise<T>): Promise<T> {
    if (this.isCut) {
      await this.#world.time.wait(TIMEOUT_MS);
      throw lost();
    }
    this.sent.push(name);
    if (this.unanswered.has(name)) {
      await new Promise(() => undefined);
    }
    const isLost = this.loses === name;
    this.loses = isLost ? null : this.loses;
    // A refusal may be thrown at once.
    const answer = await (async () => ask(this.#world.group))();
    if (isLost) {
      throw lost();
    }
    if (this.isCut) {
      await this.#world.time.wait(TIMEOUT_MS);
      throw lost();
    }
    return answer;
  }
}
