import { ClassicMember } from '../../../../app/kafka/group/classic-member.ts';
import type { Assignment, GroupMemberListener } from '../../../../app/kafka/group/group-member.ts';
import {
  decodeAssignment,
  decodeMember,
  encodeAssignment,
  ROUND_ROBIN,
} from '../../../../app/kafka/group/member-metadata.ts';
import type { TopicsAnswer, TopicsPort } from '../../../../app/kafka/group/subscribed-metadata.ts';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';
import { partitionKey, type TopicPartition } from '../../../../app/records/record.ts';
import { SimulatedGroup } from './simulated-group.ts';
import { lost, SimulatedLink } from './simulated-link.ts';
import { SimulatedTime } from './simulated-time.ts';

const { MemberMetadata } = loadKafkajs().AssignerProtocol;

/** A process with a member in it. */
export interface SimulatedProcess {
  readonly link: SimulatedLink;
  /** What it fetches and writes, as far as it knows. */
  readonly owned: readonly TopicPartition[];
  readonly isOfBefore: boolean;
  /** The place that it runs in. */
  readonly instanceId: string | null;
  readonly events: readonly string[];
  isKilled: boolean;
  isStopping: boolean;
  /** Told to stop. */
  stop(): Promise<void>;
}

/** Keeps what a member owns by the differences that it hears of. */
class Owner implements GroupMemberListener {
  readonly events: string[] = [];
  owned: readonly TopicPartition[] = [];
  readonly mistakes: string[] = [];
  /** How long each join took. */
  readonly joinMs: (number | null)[] = [];
  failedJoins = 0;

  onJoining(): void {
    this.events.push('joining');
  }

  async onAssigned({ owned, added, revoked, milliseconds }: Assignment): Promise<void> {
    this.joinMs.push(milliseconds);
    const keys = (partitions: readonly TopicPartition[]) => partitions.map(partitionKey).toSorted();
    const gone = new Set(keys(revoked));
    const expected = [...keys(this.owned).filter((key) => !gone.has(key)), ...keys(added)].toSorted();
    if (expected.join() !== keys(owned).join() || keys(revoked).some((key) => !keys(this.owned).includes(key))) {
      this.mistakes.push(`owned ${keys(owned)} are not ${keys(this.owned)} less ${keys(revoked)} and ${keys(added)}`);
    }
    this.owned = owned;
    this.events.push(`assigned ${keys(owned)}`);
  }

  onExpelled({ message }: Error): void {
    this.owned = [];
    this.events.push(`expelled: ${message}`);
  }

  onAcknowledged(): void {}

  onHeartbeat(): void {}

  onTopics(unknown: readonly string[], partitions: ReadonlyMap<string, number>): void {
    this.events.push(`topics ${[...partitions].join(' ')}, without ${unknown}`);
  }

  onTryingAgain({ message }: Error, isJoin: boolean): void {
    this.failedJoins += isJoin ? 1 : 0;
    this.events.push(`trying again: ${message}`);
  }

  onFatal({ message }: Error): void {
    this.owned = [];
    this.events.push(`fatal: ${message}`);
  }
}

class NewProcess implements SimulatedProcess {
  readonly isOfBefore = false;
  readonly link: SimulatedLink;
  readonly owner = new Owner();
  readonly member: ClassicMember;
  readonly instanceId: string | null;
  isKilled = false;
  isStopping = false;
  handedOver: boolean | null = null;

  constructor(world: SimulatedWorld, instanceId: string | null) {
    this.instanceId = instanceId;
    this.link = new SimulatedLink(world);
    const topics = [...world.subscribed];
    const options = { groupId: 'group', topics: () => topics, sessionTimeoutMs: 10_000, instanceId };
    this.member = new ClassicMember(options, {
      coordinator: this.link,
      topics: world.topicsFor(this.link),
      clock: world.time,
      logger: { warn: () => undefined },
    });
    void this.member.join(this.owner).catch(() => undefined);
  }

  get owned(): readonly TopicPartition[] {
    return this.owner.owned;
  }

  get events(): readonly string[] {
    return this.owner.events;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.handedOver = await this.member.handOver(3_000);
    this.owner.owned = [];
    await this.member.leave(3_000);
  }
}

/** A member of the version before: it gives up everything when it joins, and deals in turns. */
class OldProcess implements SimulatedProcess {
  readonly isOfBefore = true;
  readonly instanceId = null;
  readonly link: SimulatedLink;
  readonly events: string[] = [];
  owned: readonly TopicPartition[] = [];
  isKilled = false;
  isStopping = false;
  readonly #world: SimulatedWorld;
  #id = '';

  constructor(world: SimulatedWorld) {
    this.#world = world;
    this.link = new SimulatedLink(world);
    void this.#run();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.owned = [];
    await this.link.leave(this.#id).catch(() => undefined);
  }

  async #run(): Promise<void> {
    while (!this.isStopping) {
      try {
        await this.#beatWhile(await this.#join());
      } catch (error) {
        this.owned = [];
        const { type, memberId } = error as { type?: string; memberId?: string };
        this.#id = memberId ?? (type === 'UNKNOWN_MEMBER_ID' ? '' : this.#id);
        await this.#world.time.wait(100);
      }
    }
  }

  async #join(): Promise<number> {
    const metadata = MemberMetadata.encode({
      version: 0,
      topics: [...this.#world.subscribed],
      userData: Buffer.alloc(0),
    });
    const { memberId, generationId, leaderId, members } = await this.link.join(
      this.#id,
      new Map([[ROUND_ROBIN, metadata]]),
    );
    this.#id = memberId;
    const ids = members.map(({ memberId: id, memberMetadata }) => decodeMember(id, memberMetadata).id).toSorted();
    const dealt = ids.map((id, nth) => {
      const partitions = this.#world.partitions.filter((_, place) => place % ids.length === nth);
      return [id, encodeAssignment(partitions)] as const;
    });
    const assignment = await this.link.sync({ memberId, generationId }, new Map(leaderId === memberId ? dealt : []));
    this.owned = this.isStopping ? [] : decodeAssignment(assignment, (topic) => this.#world.subscribed.includes(topic));
    return generationId;
  }

  async #beatWhile(generationId: number): Promise<void> {
    while (!this.isStopping) {
      await this.#world.time.wait(2_000);
      await this.link.beat({ memberId: this.#id, generationId });
    }
  }
}

/** A group, its coordinator, and the processes that are members of it. */
export class SimulatedWorld {
  readonly time = new SimulatedTime();
  readonly group = new SimulatedGroup(this.time);
  readonly processes: SimulatedProcess[] = [];
  readonly subscribed = ['a', 'b'];
  /** Partitions by topics. */
  readonly counts = new Map([
    ['a', 8],
    ['b', 3],
  ]);

  get partitions(): readonly TopicPartition[] {
    return [...this.counts].flatMap(([topic, count]) =>
      [...Array(count).keys()].map((partition) => ({ topic, partition })),
    );
  }

  /** Processes that run. */
  get alive(): readonly SimulatedProcess[] {
    return this.processes.filter(({ isKilled }) => !isKilled);
  }

  start(instanceId: string | null = null): NewProcess {
    const process = new NewProcess(this, instanceId);
    this.processes.push(process);
    return process;
  }

  startOfBefore(): OldProcess {
    const process = new OldProcess(this);
    this.processes.push(process);
    return process;
  }

  /** It dies without a word. */
  kill(process: SimulatedProcess): void {
    process.isKilled = true;
    process.link.cutUntil = Number.POSITIVE_INFINITY;
  }

  topicsFor(link: SimulatedLink): TopicsPort {
    return {
      ask: async (topics) => {
        if (link.isCut || link.knowsNoTopics) {
          throw lost();
        }
        await (link.topicsMs > 0 && this.time.wait(link.topicsMs));
        return this.topicsOf(topics);
      },
    };
  }

  /** What the brokers tell about topics. */
  topicsOf(topics: readonly string[]): TopicsAnswer {
    const known = topics.filter((topic) => this.counts.has(topic));
    const unknown = topics.filter((topic) => !known.includes(topic));
    return { unknown, partitions: new Map(known.map((topic) => [topic, this.counts.get(topic) ?? 0])) };
  }

  /** The processes that write a partition, as far as they know. */
  ownersOf(partition: TopicPartition): readonly SimulatedProcess[] {
    const key = partitionKey(partition);
    return this.alive.filter(({ owned }) => owned.some((each) => partitionKey(each) === key));
  }

  /** All that a listener heard and that does not fit what it heard before. */
  get mistakes(): readonly string[] {
    return this.processes.flatMap((process) => (process instanceof NewProcess ? process.owner.mistakes : []));
  }
}

/** A world with members that have joined. */
export async function withMembers(count: number) {
  const world = new SimulatedWorld();
  const members: NewProcess[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    members.push(world.start(`place-${nth}`));
    await world.time.pass(3_000);
  }
  return { world, members };
}
