import type { Heartbeat, PartitionsById } from '../../../../app/kafka/consumer-protocol/consumer-group-heartbeat.ts';
import type { ListedMember } from '../../../../app/kafka/consumer-protocol/consumer-group-requests.ts';
import { ConsumerMember } from '../../../../app/kafka/consumer-protocol/consumer-member.ts';
import type { ConsumerCoordinator } from '../../../../app/kafka/consumer-protocol/consumer-session.ts';
import type { Assignment, GroupMemberListener } from '../../../../app/kafka/group/group-member.ts';
import type { TopicsAnswer } from '../../../../app/kafka/group/subscribed-metadata.ts';
import type { Encoder, ProtocolRequest } from '../../../../app/kafka/kafkajs/classes.ts';
import {
  KafkajsDecoder,
  KafkajsEncoder,
  readTags,
  readTopicId,
  writeArray,
  writeTags,
} from '../../../../app/kafka/kafkajs/flexible-versions.ts';
import { partitionKey, type TopicPartition } from '../../../../app/records/record.ts';
import { SimulatedTime } from '../group/simulated-time.ts';
import { idOf, SimulatedBrokerGroup } from './simulated-broker-group.ts';

const HEARTBEAT = 68;
const DESCRIBE = 69;

/** A request that nobody answers fails after this time. */
const TIMEOUT_MS = 30_000;

const text = (encoder: Encoder, value: string | null): Encoder =>
  value === null ? encoder.writeUVarInt(0) : encoder.writeUVarIntString(value);

function readHeartbeat(bytes: Buffer): Heartbeat {
  const decoder = new KafkajsDecoder(bytes);
  readTags(decoder);
  const [groupId, memberId] = [decoder.readUVarIntString() ?? '', decoder.readUVarIntString() ?? ''];
  const memberEpoch = decoder.readInt32();
  const instanceId = decoder.readUVarIntString();
  decoder.readUVarIntString();
  const rebalanceTimeoutMs = decoder.readInt32();
  const topics = decoder.readUVarIntArray((topic) => topic.readUVarIntString() ?? '');
  decoder.readUVarIntString();
  decoder.readUVarIntString();
  const owned = decoder.readUVarIntArray((of) => {
    const id = readTopicId(of);
    const numbers = of.readUVarIntArray((number) => number.readInt32()) ?? [];
    readTags(of);
    return [id, numbers] as const;
  });
  const lists = { topics, owned: owned && new Map(owned) };
  return { groupId, memberId, memberEpoch, instanceId, rebalanceTimeoutMs, ...lists };
}

function writePartitions(encoder: Encoder, partitions: PartitionsById, isNamed = false): void {
  writeArray(encoder, [...partitions], ([id, numbers]) => {
    encoder.writeBuffer(Buffer.from(id, 'base64url'));
    if (isNamed) text(encoder, 'name');
    writeArray(encoder, numbers, (number) => encoder.writeInt32(number));
    writeTags(encoder);
  });
}

const bytesOf = (encoder: Encoder): Buffer => (encoder as Encoder & { readonly buffer: Buffer }).buffer;

function beatAnswer(answer: ReturnType<SimulatedBrokerGroup['beat']>): Buffer {
  const encoder = writeTags(new KafkajsEncoder()).writeInt32(0);
  encoder.writeBuffer(Buffer.of(0, answer.errorCode));
  text(text(encoder, null), 'id').writeInt32(answer.memberEpoch).writeInt32(5_000);
  encoder.writeInt8(answer.assignment === null ? -1 : 1);
  if (answer.assignment !== null) {
    writePartitions(encoder, answer.assignment);
    writeTags(encoder);
  }
  return bytesOf(writeTags(encoder));
}

function describeAnswer(members: readonly ListedMember[]): Buffer {
  const encoder = writeTags(new KafkajsEncoder()).writeInt32(0).writeUVarInt(2).writeBuffer(Buffer.of(0, 0));
  text(text(text(encoder, null), 'group'), 'Stable')
    .writeInt32(1)
    .writeInt32(1);
  writeArray(text(encoder, 'uniform'), members, ({ memberId, instanceId, assigned }) => {
    text(text(text(encoder, memberId), instanceId), null).writeInt32(1);
    writeArray(text(text(encoder, 'client'), '/127.0.0.1'), [], () => undefined);
    text(encoder, null);
    writePartitions(encoder, assigned, true);
    writeTags(encoder);
    writePartitions(encoder, new Map(), true);
    writeTags(writeTags(encoder));
  });
  return bytesOf(writeTags(writeTags(encoder.writeInt32(0))));
}

function commitCode(group: SimulatedBrokerGroup, bytes: Buffer): Buffer {
  const decoder = new KafkajsDecoder(bytes);
  readTags(decoder);
  decoder.readUVarIntString();
  const epoch = decoder.readInt32();
  const code = group.commit(decoder.readUVarIntString() ?? '', epoch);
  const encoder = text(writeTags(new KafkajsEncoder()).writeInt32(0).writeUVarInt(2), 'a')
    .writeUVarInt(2)
    .writeInt32(0);
  return bytesOf(writeTags(writeTags(writeTags(encoder.writeBuffer(Buffer.of(0, code))))));
}

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
