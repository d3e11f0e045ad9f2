import type { Heartbeat, PartitionsById } from '../../../../app/kafka/consumer-protocol/consumer-group-heartbeat.ts';
import { ConsumerMember } from '../../../../app/kafka/consumer-protocol/consumer-member.ts';
import type { ConsumerCoordinator } from '../../../../app/kafka/consumer-protocol/consumer-session.ts';
import type { Assignment, GroupMemberListener } from '../../../../app/kafka/group/group-member.ts';
import type { TopicsAnswer } from '../../../../app/kafka/group/subscribed-metadata.ts';
import type { Encoder, ProtocolRequest } from '../../../../app/kafka/kafkajs/classes.ts';
import { partitionKey, type TopicPartition } from '../../../../app/records/record.ts';
import { SimulatedTime } from '../group/simulated-time.ts';
import { beatAnswer, bytesOf, commitCode, describeAnswer, readHeartbeat } from './coordinator-bytes.ts';
import { idOf, SimulatedBrokerGroup } from './simulated-broker-group.ts';

const HEARTBEAT = 68;
const DESCRIBE = 69;

/** A request that nobody answers fails after this time. */
const TIMEOUT_MS = 30_000;

const lost = () => Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError' });

/** The way from a member to the coordinator, with the bytes that go over it. */
export class SimulatedConsumerLink implements ConsumerCoordinator {
  /** Nothing arrives before. */
  cutUntil = 0;
  /** How many of the next answers do not arrive. */
  losesAnswers = 0;
  /** Codes that the next requests are refused with. */
  readonly refusals: number[] = [];
  readonly beats: Heartbeat[] = [];
  /** Called with each heartbeat that arrives. */
  onBeat: (beat: Heartbeat) => void = () => undefined;
  readonly #world: ConsumerWorld;

  constructor(world: ConsumerWorld) {
    this.#world = world;
  }

  async offers(): Promise<number> {
    if (this.#world.lookupError !== null) {
      throw this.#world.lookupError;
    }
    return this.#world.offered;
  }

  async send<Answer>({ request, response }: ProtocolRequest<Answer>): Promise<Answer> {
    const body = bytesOf((await request.encode()) as Encoder);
    const answer = await this.#passes(() => this.#answer(request.apiKey, body));
    return response.parse(await response.decode(answer));
  }

  forget(): void {}

  close(): void {}

  #answer(apiKey: number, body: Buffer): Buffer {
    const { group } = this.#world;
    if (apiKey === DESCRIBE) {
      return describeAnswer(group.describe());
    }
    if (apiKey !== HEARTBEAT) {
      return commitCode(group, body);
    }
    const beat = readHeartbeat(body);
    this.beats.push(beat);
    this.onBeat(beat);
    const errorCode = this.refusals.shift();
    return beatAnswer(errorCode === undefined ? group.beat(beat) : { errorCode, memberEpoch: 0, assignment: null });
  }

  async #passes(ask: () => Buffer): Promise<Buffer> {
    const isCut = () => this.#world.time.milliseconds < this.cutUntil;
    const answer = isCut() ? null : ask();
    if (answer === null || isCut()) {
      await this.#world.time.wait(TIMEOUT_MS);
      throw lost();
    }
    if (this.losesAnswers > 0) {
      this.losesAnswers -= 1;
      throw lost();
    }
    return answer;
  }
}

/** A process with a member in it, which takes some time to end the transaction under way. */
export class ConsumerProcess implements GroupMemberListener {
  readonly link: SimulatedConsumerLink;
  readonly member: ConsumerMember;
  readonly events: string[] = [];
  readonly mistakes: string[] = [];
  readonly acknowledged: number[] = [];
  releaseMs = 0;
  owned: readonly TopicPartition[] = [];
  #releasing: readonly TopicPartition[] = [];
  readonly #world: ConsumerWorld;
  isKilled = false;
  joined: Promise<void>;

  readonly instanceId: string | null;

  constructor(world: ConsumerWorld, instanceId: string | null) {
    this.#world = world;
    this.instanceId = instanceId;
    this.link = new SimulatedConsumerLink(world);
    const options = { groupId: 'group', instanceId, topics: () => [...world.counts.keys()] };
    this.member = new ConsumerMember(options, {
      ...{ coordinator: this.link, clock: world.time },
      topicIds: async (topics) =>
        new Map(topics.filter((topic) => !world.unnamed.has(topic)).map((each) => [each, idOf(each)])),
      onNotOffered: ({ message }) => this.events.push(`not offered: ${message}`),
      topics: { ask: async () => world.topics() },
    });
    this.link.onBeat = ({ owned }) => this.#compare(owned ?? new Map());
    this.joined = this.member.join(this);
    this.joined.catch(() => undefined);
  }

  /** What it may still write. */
  get writing(): readonly TopicPartition[] {
    return this.isKilled ? [] : [...this.owned, ...this.#releasing];
  }

  /** What the coordinator hears to be owned is open here, but for topics without a name. */
  #compare(told: PartitionsById): void {
    const open = new Set(this.writing.map(({ topic, partition }) => `${idOf(topic)}/${partition}`));
    for (const [id, numbers] of told) {
      const isNamed = [...this.#world.counts.keys()].some(
        (topic) => idOf(topic) === id && !this.#world.unnamed.has(topic),
      );
      const wrong = numbers.filter((number) => isNamed && !open.has(`${id}/${number}`));
      if (wrong.length > 0) this.mistakes.push(`told to own ${wrong}, which is not open`);
    }
  }

  onJoining(): void {
    this.events.push('joining');
  }

  async onAssigned({ owned, added, revoked }: Assignment): Promise<void> {
    const keys = (partitions: readonly TopicPartition[]) => partitions.map(partitionKey).toSorted();
    const gone = new Set(keys(revoked));
    const expected = [...keys(this.owned).filter((key) => !gone.has(key)), ...keys(added)].toSorted();
    if (expected.join() !== keys(owned).join() || keys(revoked).some((key) => !keys(this.owned).includes(key))) {
      this.mistakes.push(`owned ${keys(owned)} are not ${keys(this.owned)} less ${keys(revoked)} and ${keys(added)}`);
    }
    this.owned = owned;
    this.events.push(`assigned ${keys(owned).join(' ')}`.trim());
    if (revoked.length > 0 && this.releaseMs > 0) {
      this.#releasing = [...this.#releasing, ...revoked];
      await this.#world.time.wait(this.releaseMs);
      this.#releasing = this.#releasing.filter((each) => !revoked.includes(each));
    }
  }

  onAcknowledged(milliseconds: number): void {
    this.acknowledged.push(milliseconds);
  }

  onExpelled({ message }: Error): void {
    this.owned = [];
    this.#releasing = [];
    this.events.push(`expelled: ${message}`);
  }

  onHeartbeat(): void {}

  onTopics(unknown: readonly string[]): void {
    if (unknown.length > 0) this.events.push(`without ${unknown}`);
  }

  onTryingAgain({ message }: Error): void {
    this.events.push(`trying again: ${message}`);
  }

  onFatal({ message }: Error): void {
    this.owned = [];
    this.events.push(`fatal: ${message}`);
  }

  /** It dies without a word. */
  kill(): void {
    this.isKilled = true;
    this.link.cutUntil = Number.POSITIVE_INFINITY;
  }

  /** Nothing of it is written any more, as before a process that does not hand over leaves. */
  drain(): void {
    this.owned = [];
    this.#releasing = [];
  }

  /** Told to stop. @returns whether it handed over */
  async stop(): Promise<boolean> {
    const isHandedOver = await this.member.handOver(3_000);
    this.owned = [];
    await this.member.leave(3_000);
    return isHandedOver;
  }
}

/** A group that the brokers hold, and the processes that are members of it. */
export class ConsumerWorld {
  readonly time = new SimulatedTime();
  readonly counts = new Map([
    ['a', 8],
    ['b', 3],
  ]);
  /** Topics whose names no broker tells yet. */
  readonly unnamed = new Set<string>();
  /** What the brokers tell about the topics. */
  topics: () => TopicsAnswer = () => ({ unknown: [], partitions: this.counts });
  readonly group: SimulatedBrokerGroup;
  readonly processes: ConsumerProcess[] = [];
  /** Why the coordinator is not found. */
  lookupError: Error | null = null;
  /** The latest version of the heartbeat that the brokers offer. */
  offered = 1;

  constructor(assignmentMs?: number) {
    this.group = new SimulatedBrokerGroup(this.time, this.counts, assignmentMs);
  }

  start(instanceId: string | null = null): ConsumerProcess {
    const process = new ConsumerProcess(this, instanceId);
    this.processes.push(process);
    return process;
  }

  get partitions(): readonly string[] {
    return [...this.counts].flatMap(([topic, count]) =>
      [...Array(count).keys()].map((partition) => partitionKey({ topic, partition })),
    );
  }

  /** How many processes may write each partition now, by partition. */
  get writers(): ReadonlyMap<string, number> {
    const writing = this.processes.flatMap(({ writing: of }) => of.map(partitionKey));
    return new Map(this.partitions.map((key) => [key, writing.filter((each) => each === key).length]));
  }

  get mistakes(): readonly string[] {
    return this.processes.flatMap(({ mistakes }) => mistakes);
  }
}

/** A world with members that have joined. */
export async function withMembers(count: number): Promise<{ world: ConsumerWorld; members: ConsumerProcess[] }> {
  const world = new ConsumerWorld();
  const members: ConsumerProcess[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    members.push(world.start(`place-${nth}`));
    await world.time.pass(6_000);
  }
  return { world, members };
}

/** How many processes write the partition with the most of them. */
export const most = (world: ConsumerWorld) => Math.max(...world.writers.values());
/** How many write the one with the fewest. */
export const fewest = (world: ConsumerWorld) => Math.min(...world.writers.values());
