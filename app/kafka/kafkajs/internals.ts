import { createRequire } from 'node:module';
import type { Kafka } from 'kafkajs';
import type {
  Authenticator,
  Broker,
  BrokerPool,
  ClientOptions,
  Cluster,
  Connection,
  ConnectionPool,
  Decoder,
  Encoder,
  Metadata,
  RequestQueue,
  Scram,
} from './classes.ts';

/** The version of kafkajs that these internals belong to, and the only one that is loaded. */
export const KAFKAJS_VERSION = '2.2.4';

/** A class of kafkajs. */
interface Class<T, Options extends readonly unknown[] = readonly [options: object]> {
  readonly prototype: T;
  new (...options: Options): T;
}

type Create = (options: ClientOptions) => object;

/** The classes that are taken from kafkajs. */
export interface Classes {
  readonly Encoder: Class<Encoder, readonly []>;
  readonly Decoder: Class<Decoder, readonly [bytes: Buffer]>;
  readonly RequestQueue: Class<RequestQueue>;
  readonly Connection: Class<Connection>;
  readonly ConnectionPool: Class<ConnectionPool>;
  readonly Authenticator: Class<
    Authenticator,
    readonly [of: Connection, logger: object, versions: object, isWrapped: boolean]
  >;
  readonly Scram: Class<
    Scram,
    readonly [
      sasl: object,
      host: string,
      port: number,
      logger: object,
      exchange: () => unknown,
      digest: { type: string },
    ]
  >;
  readonly Broker: Class<Broker>;
  readonly BrokerPool: Class<BrokerPool>;
  readonly Cluster: Class<Cluster>;
}

/** The requests that are made from kafkajs's own parts. */
export const REQUESTS = [
  'Metadata',
  'GroupCoordinator',
  'JoinGroup',
  'SyncGroup',
  'Heartbeat',
  'LeaveGroup',
  'OffsetCommit',
  'DescribeGroups',
] as const;

type RequestName = (typeof REQUESTS)[number];

/** What is taken from kafkajs. */
export interface Internals extends Classes {
  readonly createAdmin: Create;
  /** A record of record format v2, as a producer sends it. */
  readonly encodeRecord: (record: never) => Encoder;
  /** Reads the answer to Metadata 0, whose `parse` that of every later version takes. */
  readonly metadataResponse: {
    readonly decode: (bytes: Buffer) => Promise<Metadata>;
    readonly parse: (answer: Metadata) => Promise<Metadata>;
  };
  readonly createErrorFromCode: (code: number) => Error;
  /** Requests by their names. */
  readonly requests: Readonly<Record<RequestName, { readonly protocol: unknown }>>;
  readonly shuffle: <T>(items: readonly T[]) => readonly T[];
  readonly errors: Errors;
}

interface Errors {
  readonly KafkaJSError: new (reason: Error | string) => Error;
  readonly KafkaJSBrokerNotFound: new (message: string) => Error;
  readonly KafkaJSConnectionError: new (message: string, of: { broker: string; code?: unknown }) => Error;
  readonly KafkaJSConnectionClosedError: new (message: string, of: { host: string; port: number }) => Error;
  readonly KafkaJSSASLAuthenticationError: new (message: string) => Error;
}

type Part = keyof Internals;

/** What is replaced as a whole. */
export const FUNCTIONS = ['createAdmin', 'encodeRecord', 'metadataResponse'] as const;

export type FunctionPart = (typeof FUNCTIONS)[number];

/** Where each of them is, and its name there where a module has several. */
const PLACES: Readonly<Record<Part, readonly [path: string, name?: string]>> = {
  Encoder: ['protocol/encoder.js'],
  Decoder: ['protocol/decoder.js'],
  RequestQueue: ['network/requestQueue/index.js'],
  Connection: ['network/connection.js'],
  ConnectionPool: ['network/connectionPool.js'],
  Authenticator: ['broker/saslAuthenticator/index.js'],
  Scram: ['broker/saslAuthenticator/scram.js', 'SCRAM'],
  Broker: ['broker/index.js'],
  BrokerPool: ['cluster/brokerPool.js'],
  Cluster: ['cluster/index.js'],
  createAdmin: ['admin/index.js'],
  encodeRecord: ['protocol/recordBatch/record/v0/index.js'],
  metadataResponse: ['protocol/requests/metadata/v0/response.js'],
  createErrorFromCode: ['protocol/error.js', 'createErrorFromCode'],
  requests: ['protocol/requests/index.js', 'requests'],
  shuffle: ['utils/shuffle.js'],
  errors: ['errors.js'],
};

const require = createRequire(import.meta.url);

const pathOf = (module: string): string => `kafkajs/src/${module}`;

/** @param module its path in `kafkajs/src` */
export const fileOf = (module: string): string => require.resolve(pathOf(module));

function partNow(part: Part): unknown {
  const [module, name] = PLACES[part];
  const exports = require(pathOf(module)) as Readonly<Record<string, unknown>>;
  return name === undefined ? exports : exports[name];
}

/**
 * kafkajs's inside as it is now, with the patches that it has so far. Each part is loaded when it is first asked for.
 */
export const internals = Object.defineProperties(
  {},
  Object.fromEntries(Object.keys(PLACES).map((part) => [part, { enumerable: true, get: () => partNow(part as Part) }])),
) as Internals;

/** Puts something else in the place of a part. Modules that are loaded already keep the one of before. */
export function replaceInternal<P extends FunctionPart>(part: P, replacement: Internals[P]): void {
  replaceModule(PLACES[part][0], replacement);
}

/** @param module its path in `kafkajs/src` */
export function replaceModule(module: string, replacement: unknown): void {
  const file = fileOf(module);
  require(file);
  const loaded = require.cache[file];
  if (!loaded) {
    throw new Error(`${module} of kafkajs could not be replaced: it is not in the module cache`);
  }
  loaded.exports = replacement;
}

/** The key of what kafkajs keeps to itself. @throws Error where there is none of the name */
function privateKey(object: object, name: string): symbol {
  const key = Object.getOwnPropertySymbols(object).find(({ description }) => description === name);
  if (key === undefined) {
    throw new Error(
      `the kafkajs that is installed has no ${name}; this program is made for kafkajs ${KAFKAJS_VERSION}`,
    );
  }
  return key;
}

interface ClusterOptions {
  /** How old metadata may become, in milliseconds. */
  readonly metadataMaxAge: number;
  readonly allowAutoTopicCreation: boolean;
  /** Takes the events of its requests. */
  readonly instrumentationEmitter?: { emit(event: string, payload: object): void };
}

/**
 * Brokers and connections as a consumer or an admin client of this client has them: those of one client are its own.
 */
export function createCluster(client: Kafka, options: ClusterOptions): Cluster {
  const create = Reflect.get(client, privateKey(client, 'private:Kafka:createCluster')) as (
    of: ClusterOptions,
  ) => Cluster;
  return create(options);
}

/** @throws Error when another version than 2.2.4 is installed */
export function requireVersion(): void {
  const { version } = require('kafkajs/package.json') as { version: string };
  if (version !== KAFKAJS_VERSION) {
    throw new Error(`kafkajs ${version} is installed, but the patches are made for ${KAFKAJS_VERSION}: run npm ci`);
  }
}

/** kafkajs itself, over its inside as it is when it is first loaded. */
export const loadClient = (): typeof import('kafkajs') => require('kafkajs') as typeof import('kafkajs');
