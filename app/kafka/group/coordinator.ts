import type { Position } from '../../stream/ports/record-source.ts';
import { isAnswer, isAnswerToCommit } from '../client/kafka-errors.ts';
import { type BrokerConnections, closeBroker } from '../fetch/broker-connections.ts';
import type { Broker, ProtocolRequest } from '../kafkajs/classes.ts';
import { internals } from '../kafkajs/internals.ts';
import { REBALANCE_TIMEOUT_MS } from './group-member.ts';

/** A member as the coordinator passes it on. */
export interface RawMember {
  readonly memberId: string;
  /** What it says of itself; empty where the coordinator does not pass it on. */
  readonly memberMetadata: Buffer;
}

/** The answer to a join. */
export interface Joined {
  readonly generationId: number;
  readonly memberId: string;
  readonly leaderId: string;
  /** For the leader alone: all members, with what they say of themselves. */
  readonly members: readonly RawMember[];
}

/** A member in a generation. */
export interface InGeneration {
  readonly memberId: string;
  readonly generationId: number;
}

/** The members of a group, as the coordinator describes them. */
export interface DescribedGroup {
  /** Stable: nobody joins. Only then the answer has the metadata of the members. */
  readonly state: string;
  /** `consumer`, or another word where others than consumers use the group; empty without members. */
  readonly protocolType: string;
  /** What the group assigns partitions by; empty where it has not done so. */
  readonly protocol: string;
  readonly members: readonly RawMember[];
}

/**
 * The group's coordinator. Each request finds it where it is not known, and is sent once: an answer by which another
 * broker coordinates the group, or no answer, makes the next request find it anew.
 *
 * Brokers answer the requests of a connection in order. A join waits for all members, and a commit for the replicas of
 * the offsets: so joins have a connection, commits have one, and all other requests a third one. Only tools read what
 * is committed, so a commit that fails closes no connection but that of commits.
 */
export interface Coordinator {
  /** @param metadata by protocol, the preferred one first. @throws Error with the `memberId` that has to be used */
  join(memberId: string, metadata: ReadonlyMap<string, Buffer>): Promise<Joined>;
  /** @param assigned by the leader to all; of others nothing. @returns what the member is assigned */
  sync(member: InGeneration, assigned: ReadonlyMap<string, Buffer>): Promise<Buffer>;
  beat(member: InGeneration): Promise<void>;
  leave(memberId: string): Promise<void>;
  commit(member: InGeneration, positions: readonly Position[], metadata: string | null): Promise<void>;
  describe(): Promise<DescribedGroup>;
  /** Closes the connection of joins: who joins anew need not wait for the answer to the join before. */
  cutJoin(): void;
  /** Closes the three connections; requests under way fail, and the next one finds the coordinator anew. */
  forget(): void;
  /** Closes all connections; nothing is asked any more. */
  close(): void;
}

/** The connection was closed under a request: nobody answered for long, or another request takes its place. */
const CUT = 'the connection to the coordinator of the group was closed';

const KEYS = {
  OffsetCommit: 8,
  JoinGroup: 11,
  Heartbeat: 12,
  LeaveGroup: 13,
  SyncGroup: 14,
  DescribeGroups: 15,
} as const;

/** What the requests of a group have in common. */
export interface GroupIdentity {
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
}

/**
 * The part of the session after which a coordinator that takes no connection is found anew: the next one is in time.
 */
const CONNECTING_SHARE = 1 / 3;

/** The coordinator's address, and the connections to it. */
type Connections = Pick<BrokerConnections, 'coordinator' | 'apart' | 'close'>;

/** A connection that requests of one kind go over. */
interface Link {
  /** Connected; `null`: the next request opens it. */
  opened: Promise<Broker> | null;
  /** It may be connecting. */
  broker: Broker | null;
  /** Aborted when it is closed, with the reason. */
  cutting: AbortController;
}

const closed = (): Link => ({ opened: null, broker: null, cutting: new AbortController() });

/** The coordinator, over three connections of the client's. */
export class GroupCoordinator implements Coordinator {
  readonly #connections: Connections;
  readonly #group: GroupIdentity;
  readonly #joins: Link = closed();
  readonly #commits: Link = closed();
  readonly #others: Link = closed();
  #found: ReturnType<BrokerConnections['coordinator']> | null = null;

  constructor(connections: Connections, group: GroupIdentity) {
    this.#connections = connections;
    this.#group = group;
  }

  async join(memberId: string, metadata: ReadonlyMap<string, Buffer>): Promise<Joined> {
    const { sessionTimeoutMs: sessionTimeout } = this.#group;
    const groupProtocols = [...metadata].map(([name, said]) => ({ name, metadata: said }));
    const times = { sessionTimeout, rebalanceTimeout: REBALANCE_TIMEOUT_MS };
    return this.#ask(this.#joins, 'JoinGroup', { ...times, memberId, protocolType: 'consumer', groupProtocols });
  }

  async sync(member: InGeneration, assigned: ReadonlyMap<string, Buffer>): Promise<Buffer> {
    const groupAssignment = [...assigned].map(([memberId, memberAssignment]) => ({ memberId, memberAssignment }));
    type Synced = { readonly memberAssignment: Buffer };
    return (await this.#ask<Synced>(this.#joins, 'SyncGroup', { ...member, groupAssignment })).memberAssignment;
  }

  async beat({ memberId, generationId }: InGeneration): Promise<void> {
    await this.#ask(this.#others, 'Heartbeat', { memberId, groupGenerationId: generationId });
  }

  async leave(memberId: string): Promise<void> {
    await this.#ask(this.#others, 'LeaveGroup', { memberId });
  }

  async commit(
    { memberId, generationId }: InGeneration,
    positions: readonly Position[],
    metadata: string | null,
  ): Promise<void> {
    const topics = [...new Set(positions.map(({ topic }) => topic))].map((topic) => ({
      topic,
      partitions: positions
        .filter((position) => position.topic === topic)
        .map(({ partition, offset }) => ({ partition, offset: offset.toString(), metadata })),
    }));
    await this.#ask(this.#commits, 'OffsetCommit', { memberId, groupGenerationId: generationId, topics });
  }

  async describe(): Promise<DescribedGroup> {
    const asked = { groupIds: [this.#group.groupId] };
    const { groups } = await this.#ask<{ readonly groups: readonly DescribedGroup[] }>(
      ...([this.#others, 'DescribeGroups', asked] as const),
    );
    return groups[0] ?? { state: 'Dead', protocolType: '', protocol: '', members: [] };
  }

  /** @returns the latest version of a request that the coordinator offers; -1: it does not know the request */
  async offers(apiKey: number): Promise<number> {
    const { versions } = await this.#asked(this.#others, (broker) => Promise.resolve(broker));
    return versions?.[apiKey]?.maxVersion ?? -1;
  }

  /** Sends a request that kafkajs does not have. */
  send<Answer>(request: ProtocolRequest<Answer>): Promise<Answer> {
    const link = request.request.apiKey === KEYS.OffsetCommit ? this.#commits : this.#others;
    return this.#asked(link, ({ connectionPool }) => connectionPool.send(request));
  }

  cutJoin(): void {
    cut(this.#joins, CUT);
  }

  forget(): void {
    this.#forget(CUT);
  }

  close(): void {
    this.forget();
    this.#connections.close();
  }

  #ask<Answer>(link: Link, kind: keyof typeof KEYS, asked: object): Promise<Answer> {
    return this.#asked(link, ({ lookupRequest, connectionPool }) => {
      const request = lookupRequest(KEYS[kind], internals.requests[kind])({ groupId: this.#group.groupId, ...asked });
      return connectionPool.send(request as ProtocolRequest<Answer>);
    });
  }

  async #asked<Answer>(link: Link, ask: (broker: Broker) => Promise<Answer>): Promise<Answer> {
    const { signal } = link.cutting;
    try {
      return await unlessAborted(signal, this.#opened(link).then(ask));
    } catch (error) {
      // Of a connection that was closed meanwhile nothing follows for the one of now.
      signal.throwIfAborted();
      if (!(link === this.#commits ? isAnswerToCommit : isAnswer)(error)) {
        this.#lose(link, CUT);
      }
      throw error;
    }
  }

  /** The coordinator is found anew by the next request that opens a connection. */
  #lose(link: Link, reason: string): void {
    if (link === this.#commits) {
      this.#found = null;
      cut(link, reason);
    } else {
      this.#forget(reason);
    }
  }

  #forget(reason: string): void {
    this.#found = null;
    cut(this.#joins, reason);
    cut(this.#commits, reason);
    cut(this.#others, reason);
  }

  /** The link's broker; its connection is opened where there is none, and again where it was closed. */
  #opened(link: Link): Promise<Broker> {
    const { opened: before, cutting } = link;
    const opened = before === null ? this.#open(link) : before.then((broker) => this.#reopened(link, broker));
    link.opened = opened;
    const timeoutMs = this.#group.sessionTimeoutMs * CONNECTING_SHARE;
    const giveUp = (): void => {
      cutting.signal.aborted ||
        this.#lose(link, `the coordinator of the group took no connection within ${Math.round(timeoutMs)} ms`);
    };
    const timer = setTimeout(giveUp, timeoutMs).unref();
    const end = (): void => clearTimeout(timer);
    void opened.then(end, () => {
      end();
      link.opened = link.opened === opened ? null : link.opened;
    });
    return opened;
  }

  /** Where the login is over, it is renewed on the same connection. */
  async #reopened(link: Link, broker: Broker): Promise<Broker> {
    // By the versions that the broker offers now: it may have been another one that was started.
    return broker.connectionPool.pool.some((connection) => connection.isConnected())
      ? connected(broker, link.cutting.signal)
      : this.#open(link);
  }

  async #open(link: Link): Promise<Broker> {
    const { signal } = link.cutting;
    this.#found ??= this.#connections.coordinator(this.#group.groupId);
    const found = this.#found;
    const address = await found.catch((error: unknown) => {
      this.#found = this.#found === found ? null : this.#found;
      throw error;
    });
    const broker = await this.#connections.apart(address);
    signal.throwIfAborted();
    link.broker = broker;
    return connected(broker, signal);
  }
}

/**
 * Connects once, where kafkajs would try a silent broker for minutes: who asked tries again, at the coordinator of
 * then.
 */
async function connected(broker: Broker, signal: AbortSignal): Promise<Broker> {
  try {
    await broker.connect();
    signal.throwIfAborted();
    return broker;
  } catch (error) {
    closeBroker(broker);
    throw error;
  }
}

/** Closes a connection, also one that is being opened; whatever waits for it fails at once. */
function cut(link: Link, reason: string): void {
  const { broker, cutting } = link;
  Object.assign(link, closed());
  cutting.abort(new internals.errors.KafkaJSConnectionError(reason, { broker: 'the coordinator' }));
  if (broker !== null) {
    closeBroker(broker);
  }
}

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    const end = (): void => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(end);
  });
}
