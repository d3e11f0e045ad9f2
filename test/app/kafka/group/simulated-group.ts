import type { DescribedGroup, InGeneration, Joined } from '../../../../app/kafka/group/coordinator.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** An answer of the coordinator that says no. */
class Refused extends Error {
  override readonly name = 'KafkaJSProtocolError';
  readonly type: string;
  readonly retriable: boolean;
  readonly memberId: string | undefined;

  constructor(type: string, memberId?: string) {
    super(type);
    this.type = type;
    this.memberId = memberId;
    this.retriable = type.includes('COORDINATOR') || type === 'GROUP_LOAD_IN_PROGRESS';
  }
}

interface Waiting<T> {
  resolve(answer: T): void;
  reject(error: Error): void;
}

/** What a member is dealt, and by which of all deals: generations may begin again. */
interface Dealt {
  readonly deal: number;
  readonly assignment: Buffer;
}

interface Member {
  readonly id: string;
  protocols: ReadonlyMap<string, Buffer>;
  join: Waiting<Joined> | null;
  sync: Waiting<Dealt> | null;
  expiresAt: number;
  assignment: Buffer;
}

/** A generation that was given. */
interface Stored {
  readonly generation: number;
  readonly leader: string;
  readonly members: readonly Member[];
}

type State = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable';

const SESSION_MS = 10_000;
const REBALANCE_MS = 60_000;
const LOOK_MS = 250;
const NOTHING = Buffer.alloc(0);

const isSame = (one: ReadonlyMap<string, Buffer>, other: ReadonlyMap<string, Buffer>): boolean =>
  one.size === other.size && [...one].every(([name, data]) => other.get(name)?.equals(data) === true);

/** A group's coordinator, as Kafka's classic protocol has it (JoinGroup 4 and later), in simulated time. */
export class SimulatedGroup {
  readonly #time: SimulatedTime;
  #members = new Map<string, Member>();
  readonly #pending = new Map<string, number>();
  #state: State = 'Empty';
  #leader = '';
  #deadline = Number.POSITIVE_INFINITY;
  #loadedAt = 0;
  #ids = 0;
  #deals = 0;
  /** What a coordinator that takes over knows: the last generation that was given. */
  #stored: readonly Stored[] = [{ generation: 0, leader: '', members: [] }];
  generation = 0;
  /** How many generations were given. */
  joins = 0;

  constructor(time: SimulatedTime) {
    this.#time = time;
    void this.#look();
  }

  get state(): State {
    return this.#state;
  }

  join(memberId: string, protocols: ReadonlyMap<string, Buffer>): Promise<Joined> {
    this.#requireLoaded();
    if (memberId === '') {
      this.#ids += 1;
      const id = `m${String(this.#ids).padStart(3, '0')}`;
      this.#pending.set(id, this.#time.milliseconds + SESSION_MS);
      throw new Refused('MEMBER_ID_REQUIRED', id);
    }
    const isNew = this.#pending.delete(memberId);
    const known = this.#members.get(memberId);
    if (!isNew && known === undefined) {
      throw new Refused('UNKNOWN_MEMBER_ID');
    }
    const member = known ?? { id: memberId, protocols, join: null, sync: null, expiresAt: 0, assignment: NOTHING };
    const isUnchanged = !isNew && isSame(member.protocols, protocols);
    if (
      this.#state === 'CompletingRebalance'
        ? isUnchanged
        : isUnchanged && this.#state === 'Stable' && this.#leader !== memberId
    ) {
      return Promise.resolve(this.#joined(member));
    }
    this.#members.set(memberId, member);
    member.protocols = protocols;
    return new Promise((resolve, reject) => {
      member.join = { resolve, reject };
      this.#prepare();
    });
  }

  sync({ memberId, generationId }: InGeneration, dealt: ReadonlyMap<string, Buffer>): Promise<Dealt> {
    const member = this.#require({ memberId, generationId });
    if (this.#state === 'PreparingRebalance') {
      throw new Refused('REBALANCE_IN_PROGRESS');
    }
    if (this.#state === 'Stable') {
      return Promise.resolve({ deal: this.#deals, assignment: member.assignment });
    }
    return new Promise((resolve, reject) => {
      member.sync = { resolve, reject };
      if (memberId === this.#leader) {
        this.#give(dealt);
      }
    });
  }

  beat(member: InGeneration): void {
    this.#require(member).expiresAt = this.#time.milliseconds + SESSION_MS;
    if (this.#state === 'PreparingRebalance') {
      throw new Refused('REBALANCE_IN_PROGRESS');
    }
  }

  leave(memberId: string): void {
    this.#requireLoaded();
    if (!this.#pending.delete(memberId) && !this.#members.has(memberId)) {
      throw new Refused('UNKNOWN_MEMBER_ID');
    }
    this.#remove(memberId);
  }

  describe(): DescribedGroup {
    const members = [...this.#members.values()].map(({ id, protocols }) => ({
      memberId: id,
      memberMetadata: (this.#state === 'Stable' && [...protocols.values()][0]) || NOTHING,
    }));
    const [first] = this.#members.values();
    const protocol = first === undefined ? '' : ([...first.protocols.keys()][0] ?? '');
    return { state: this.#state, protocolType: first === undefined ? '' : 'consumer', protocol, members };
  }

  /**
   * Another broker coordinates the group from now on, once it has read what was stored.
   *
   * @param lost how many generations it does not know of
   */
  move(lost = 0): void {
    for (const { join, sync } of this.#members.values()) {
      join?.reject(new Refused('NOT_COORDINATOR_FOR_GROUP'));
      sync?.reject(new Refused('NOT_COORDINATOR_FOR_GROUP'));
    }
    const expiresAt = this.#time.milliseconds + SESSION_MS;
    this.#pending.clear();
    this.#stored = this.#stored.slice(0, Math.max(1, this.#stored.length - lost));
    const { members = [], generation = 0, leader = '' } = this.#stored.at(-1) ?? {};
    this.#members = new Map(members.map((of) => [of.id, { ...of, join: null, sync: null, expiresAt }]));
    this.generation = generation;
    this.#leader = leader;
    this.#state = this.#members.size === 0 ? 'Empty' : 'Stable';
    this.#loadedAt = this.#time.milliseconds + 300;
  }

  async #look(): Promise<void> {
    for (;;) {
      await this.#time.wait(LOOK_MS);
      for (const id of this.#dead()) this.#remove(id);
      if (this.#state === 'PreparingRebalance' && this.#deadline <= this.#time.milliseconds) {
        for (const { id, join } of [...this.#members.values()]) join ?? this.#members.delete(id);
        this.#complete();
      }
    }
  }

  /** A member whose join is not answered yet lives as long as that takes. */
  #dead(): readonly string[] {
    const now = this.#time.milliseconds;
    const pending = [...this.#pending].filter(([, expiresAt]) => expiresAt <= now).map(([id]) => id);
    const silent = [...this.#members.values()].filter(
      ({ join, sync, expiresAt }) => !join && !sync && expiresAt <= now,
    );
    return [...pending, ...silent.map(({ id }) => id)];
  }

  #requireLoaded(): void {
    if (this.#time.milliseconds < this.#loadedAt) {
      throw new Refused('GROUP_LOAD_IN_PROGRESS');
    }
  }

  #require({ memberId, generationId }: InGeneration): Member {
    this.#requireLoaded();
    const member = this.#members.get(memberId);
    if (member === undefined) {
      throw new Refused('UNKNOWN_MEMBER_ID');
    }
    if (generationId !== this.generation) {
      throw new Refused('ILLEGAL_GENERATION');
    }
    return member;
  }

  #remove(id: string): void {
    const member = this.#members.get(id);
    this.#pending.delete(id);
    this.#members.delete(id);
    member?.join?.reject(new Refused('UNKNOWN_MEMBER_ID'));
    member?.sync?.reject(new Refused('UNKNOWN_MEMBER_ID'));
    this.#prepare();
  }

  #prepare(): void {
    if (this.#state !== 'PreparingRebalance') {
      for (const member of this.#members.values()) {
        member.sync?.reject(new Refused('REBALANCE_IN_PROGRESS'));
        member.sync = null;
      }
      this.#state = 'PreparingRebalance';
      this.#deadline = this.#time.milliseconds + REBALANCE_MS;
    }
    if (this.#pending.size === 0 && [...this.#members.values()].every(({ join }) => join !== null)) {
      this.#complete();
    }
  }

  #complete(): void {
    this.generation += 1;
    this.joins += 1;
    const members = [...this.#members.values()];
    this.#leader = this.#members.has(this.#leader) ? this.#leader : (members[0]?.id ?? '');
    this.#state = members.length === 0 ? 'Empty' : 'CompletingRebalance';
    for (const member of members) {
      member.expiresAt = this.#time.milliseconds + SESSION_MS;
      member.join?.resolve(this.#joined(member));
      member.join = null;
    }
    if (members.length === 0) {
      this.#stored = [...this.#stored, { generation: this.generation, leader: '', members: [] }];
    }
  }

  /** By the first protocol that all members offer. */
  #joined({ id, protocols }: Member): Joined {
    const members = [...this.#members.values()];
    const protocol = [...protocols.keys()].find((name) => members.every((each) => each.protocols.has(name))) ?? '';
    return {
      ...{ memberId: id, generationId: this.generation, leaderId: this.#leader },
      members:
        id === this.#leader
          ? members.map((each) => ({ memberId: each.id, memberMetadata: each.protocols.get(protocol) ?? NOTHING }))
          : [],
    };
  }

  #give(dealt: ReadonlyMap<string, Buffer>): void {
    this.#state = 'Stable';
    this.#deals += 1;
    for (const member of this.#members.values()) {
      member.assignment = dealt.get(member.id) ?? NOTHING;
      member.expiresAt = this.#time.milliseconds + SESSION_MS;
      member.sync?.resolve({ deal: this.#deals, assignment: member.assignment });
      member.sync = null;
    }
    const members = [...this.#members.values()].map((member) => ({ ...member }));
    this.#stored = [...this.#stored, { generation: this.generation, leader: this.#leader, members }];
  }
}
