/**
 * The classes of kafkajs's inside, as far as this program uses them; kafkajs's own types show none of them.
 * internals.ts gives access to them, and compares them with the kafkajs that is installed.
 */
import type { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';

/** Where a broker listens. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly rack?: string | null;
}

/** Writes requests, in the types of Kafka's protocol. */
export interface Encoder {
  writeInt8(value: number): Encoder;
  writeInt32(value: number): Encoder;
  writeBoolean(value: boolean): Encoder;
  writeString(value: string): Encoder;
  writeBuffer(value: Buffer): Encoder;
  writeEncoder(value: Encoder): Encoder;
  writeVarInt(value: number): Encoder;
  writeVarIntBytes(value: Buffer | null): Encoder;
  writeVarLong(value: number): Encoder;
  writeUVarInt(value: number): Encoder;
  writeUVarIntString(value: string): Encoder;
  size(): number;
}

export type Reader<T> = (decoder: Decoder) => T;

/** Reads answers, in the types of Kafka's protocol. */
export interface Decoder {
  readonly buffer: Buffer;
  offset: number;
  forward(bytes: number): void;
  readInt8(): number;
  readInt16(): number;
  readInt32(): number;
  /** A bigint once it is patched. */
  readInt64(): unknown;
  readDouble(): number;
  readVarInt(): number;
  readUVarInt(): number;
  readVarLong(): unknown;
  readString(): string | null;
  readVarIntString(): string | null;
  readUVarIntString(): string | null;
  readBytes(length?: number): Buffer | null;
  readVarIntBytes(): Buffer | null;
  readUVarIntBytes(): Buffer | null;
  readArray<T>(read: Reader<T>): T[];
  readVarIntArray<T>(read: Reader<T>): T[];
  readUVarIntArray<T>(read: Reader<T>): T[] | null;
  readArrayAsync<T>(read: Reader<Promise<T>>): Promise<T[]>;
}

/** A request, and how its answer is read. */
export interface ProtocolRequest<Answer> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<unknown>;
  };
  readonly response: {
    readonly decode: (bytes: Buffer) => Promise<Answer>;
    readonly parse: (answer: Answer) => Promise<Answer>;
  };
}

/** A request on its way. */
interface SocketRequest {
  /** By the clock of {@link RequestQueue}: the monotonic one, once it is patched. */
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

/** The requests of one connection. */
export interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly enforceRequestTimeout: boolean;
  readonly inflight: ReadonlyMap<unknown, SocketRequest>;
  isConnected(): boolean;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
  fulfillRequest(answer: { readonly size: number; readonly correlationId: number; readonly payload: Buffer }): void;
}

/** A part of a login, of before Kafka 1.0. */
interface AuthRequest {
  readonly response: { decode(answer: Buffer): unknown };
}

/** One connection to a broker. */
export interface Connection {
  readonly host: string;
  readonly port: number;
  /** Host and port. */
  readonly broker: string;
  readonly socketFactory: ISocketFactory;
  readonly requestQueue: Pick<RequestQueue, 'fulfillRequest'>;
  /** Another one after each connect. */
  readonly socket: Socket;
  authHandlers: { onSuccess(answer: Buffer): void; onError(): void } | null;
  authExpectResponse: boolean;
  /** In milliseconds, 0 for no end; of kafkajs's own kind of integer. */
  readonly sessionLifetime: { toNumber(): number };
  reauthenticationThreshold: number;
  isConnected(): boolean;
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  send(sent: { readonly request: { readonly apiKey: number } }): Promise<unknown>;
  sendAuthRequest(sent: AuthRequest): Promise<unknown>;
  processData(piece: Buffer): void;
  rejectRequests(error: unknown): void;
}

/** The login of one connection. */
export interface Authenticator {
  readonly connection: Connection;
  authenticate(): Promise<void>;
}

/** The client's side of SCRAM. */
export interface Scram {
  readonly PREFIX: string;
  sendClientFinalMessage(first: { readonly i?: string }): Promise<unknown>;
}

/** The connections to one broker: one for fetches, one for all other requests. */
export interface ConnectionPool extends BrokerAddress {
  readonly pool: readonly Connection[];
  send<Answer>(request: ProtocolRequest<Answer>): Promise<Answer>;
}

export interface TopicMetadata {
  readonly topicErrorCode: number;
  readonly topic: string;
  readonly partitionMetadata: readonly { readonly partitionErrorCode: number }[];
}

export interface Metadata {
  readonly topicMetadata: readonly TopicMetadata[];
}

/** A broker, and what it is asked for. */
export interface Broker {
  readonly nodeId: number;
  /** By the keys of requests, the versions that the broker offers. */
  readonly versions: Readonly<Record<number, { readonly minVersion?: number; readonly maxVersion: number }>> | null;
  readonly connectionPool: ConnectionPool;
  /** How requests of a kind are made for this broker, by the last version that both sides have. */
  readonly lookupRequest: (key: number, requests: unknown) => (asked: object) => ProtocolRequest<unknown>;
  isConnected(): boolean;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  metadata(topics?: readonly string[]): Promise<Metadata>;
  findGroupCoordinator(asked: unknown): Promise<unknown>;
}

/** The brokers of a cluster by their ids. */
export interface BrokerPool {
  readonly brokers: Readonly<Record<string, Broker>>;
  /** As they were answered last; another object each time. */
  readonly metadata: Metadata | null;
  createBroker(options: object): Broker;
  connectBroker(broker: Broker): Promise<void>;
  findBroker(wanted: { readonly nodeId: string | number }): Promise<Broker>;
  findConnectedBroker(): Promise<Broker>;
  /** null: all of them failed. */
  withBroker<T>(ask: (asked: { readonly nodeId: string; readonly broker: Broker }) => Promise<T>): Promise<T | null>;
}

/** Partitions whose offsets are asked for. */
export interface AskedTopic {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
  /** The offset that the log begins at. @default false: the one that it ends at */
  readonly fromBeginning?: boolean;
}

/** The offsets of partitions; -1 where none is known. */
export interface TopicOffsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

/** The brokers of one client: consumer, admin client and producer have one each. */
export interface Cluster {
  readonly rootLogger: unknown;
  readonly brokerPool: BrokerPool;
  readonly connectionPoolBuilder: { build(address?: BrokerAddress): Promise<ConnectionPool> };
  /** All topics that were asked about: each look is about all of them. */
  readonly targetTopics: Set<string>;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  metadata(asked?: { readonly topics?: readonly string[] }): Promise<Metadata | null>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  getNodeIds(): readonly string[];
  findBroker(wanted: { readonly nodeId: string | number }): Promise<Broker>;
  findGroupCoordinatorMetadata(of: unknown): Promise<unknown>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number }[];
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  fetchTopicsOffset(topics: readonly AskedTopic[]): Promise<readonly TopicOffsets[]>;
}

/** What an admin client is made from. */
export interface ClientOptions {
  readonly cluster: Cluster;
}
