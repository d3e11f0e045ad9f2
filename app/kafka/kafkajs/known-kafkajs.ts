import { type Classes, type Internals, KAFKAJS_VERSION, REQUESTS } from './internals.ts';

/** What a connection has from its first connect on. */
type Later = 'socket';

/**
 * The members that each object of a class has from the beginning: the compiler asks for each of them, and for no other.
 */
type Members<T> = {
  readonly [Name in keyof T as Name extends string
    ? object extends Pick<T, Name>
      ? never
      : Exclude<Name, Later>
    : never]: true;
};

const MEMBERS: { readonly [Name in keyof Classes]: Members<Classes[Name]['prototype']> } = {
  Encoder: {
    writeInt8: true,
    writeInt32: true,
    writeBoolean: true,
    writeString: true,
    writeBuffer: true,
    writeEncoder: true,
    writeVarInt: true,
    writeVarIntBytes: true,
    writeVarLong: true,
    writeUVarInt: true,
    writeUVarIntString: true,
    size: true,
  },
  Decoder: {
    buffer: true,
    offset: true,
    forward: true,
    readInt8: true,
    readInt16: true,
    readInt32: true,
    readInt64: true,
    readDouble: true,
    readVarInt: true,
    readUVarInt: true,
    readVarLong: true,
    readString: true,
    readVarIntString: true,
    readUVarIntString: true,
    readBytes: true,
    readVarIntBytes: true,
    readUVarIntBytes: true,
    readArray: true,
    readVarIntArray: true,
    readUVarIntArray: true,
    readArrayAsync: true,
  },
  RequestQueue: {
    pending: true,
    enforceRequestTimeout: true,
    inflight: true,
    isConnected: true,
    scheduleCheckPendingRequests: true,
    scheduleRequestTimeoutCheck: true,
    fulfillRequest: true,
  },
  Connection: {
    host: true,
    port: true,
    broker: true,
    socketFactory: true,
    requestQueue: true,
    authHandlers: true,
    authExpectResponse: true,
    sessionLifetime: true,
    reauthenticationThreshold: true,
    isConnected: true,
    connect: true,
    disconnect: true,
    send: true,
    sendAuthRequest: true,
    processData: true,
    rejectRequests: true,
  },
  ConnectionPool: { host: true, port: true, pool: true, send: true },
  Authenticator: { connection: true, authenticate: true },
  Scram: { PREFIX: true, sendClientFinalMessage: true },
  Broker: {
    nodeId: true,
    versions: true,
    connectionPool: true,
    lookupRequest: true,
    isConnected: true,
    connect: true,
    disconnect: true,
    metadata: true,
    findGroupCoordinator: true,
  },
  BrokerPool: {
    brokers: true,
    metadata: true,
    createBroker: true,
    connectBroker: true,
    findBroker: true,
    findConnectedBroker: true,
    withBroker: true,
  },
  Cluster: {
    rootLogger: true,
    brokerPool: true,
    connectionPoolBuilder: true,
    targetTopics: true,
    connect: true,
    disconnect: true,
    addMultipleTargetTopics: true,
    metadata: true,
    refreshMetadata: true,
    refreshMetadataIfNecessary: true,
    getNodeIds: true,
    findBroker: true,
    findGroupCoordinatorMetadata: true,
    findTopicPartitionMetadata: true,
    findLeaderForPartitions: true,
    fetchTopicsOffset: true,
  },
};

export const CLASSES = Object.keys(MEMBERS) as readonly (keyof Classes)[];

const quiet = {
  namespace: () => quiet,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const LOGIN_VERSIONS = { 17: { minVersion: 0, maxVersion: 1 }, 36: { minVersion: 0, maxVersion: 1 } };

/** An object of each class; none connects to anything. */
function objectsOf(kafkajs: Classes): Readonly<Record<keyof Classes, object>> {
  const address = { host: 'localhost', port: 9092, logger: quiet };
  const connection = new kafkajs.Connection(address);
  const connectionPool = new kafkajs.ConnectionPool(address);
  const cluster = new kafkajs.Cluster({ logger: quiet, brokers: ['localhost:9092'] });
  return {
    Encoder: new kafkajs.Encoder(),
    Decoder: new kafkajs.Decoder(Buffer.alloc(0)),
    RequestQueue: connection.requestQueue,
    Connection: connection,
    ConnectionPool: connectionPool,
    Authenticator: new kafkajs.Authenticator(connection, quiet, LOGIN_VERSIONS, true),
    Broker: new kafkajs.Broker({ logger: quiet, connectionPool }),
    BrokerPool: cluster.brokerPool,
    Cluster: cluster,
    Scram: new kafkajs.Scram({}, 'localhost', 9092, quiet, () => undefined, { type: 'sha256' }),
  };
}

const SHIPPED_FUNCTIONS = ['createAdmin', 'encodeRecord', 'createErrorFromCode', 'shuffle'] as const;

const ERRORS: Readonly<Record<keyof Internals['errors'], true>> = {
  KafkaJSError: true,
  KafkaJSBrokerNotFound: true,
  KafkaJSConnectionError: true,
  KafkaJSConnectionClosedError: true,
  KafkaJSSASLAuthenticationError: true,
};

const isMissing = (value: unknown): boolean => typeof value !== 'function';

function missingOf(kafkajs: Internals): readonly string[] {
  const { errors, metadataResponse, requests } = kafkajs;
  const nested = {
    'metadataResponse.parse': metadataResponse.parse,
    ...Object.fromEntries(REQUESTS.map((name) => [`requests.${name}`, requests[name]?.protocol])),
  };
  const functions = [
    ...[...CLASSES, ...SHIPPED_FUNCTIONS].filter((name) => isMissing(kafkajs[name])),
    ...Object.keys(ERRORS).filter((name) => isMissing(Reflect.get(errors, name))),
    ...Object.keys(nested).filter((name) => isMissing(Reflect.get(nested, name))),
  ];
  if (functions.length > 0) {
    return functions;
  }
  const objects = objectsOf(kafkajs);
  return CLASSES.flatMap((name) =>
    Object.keys(MEMBERS[name])
      .filter((member) => !(member in Object(objects[name])))
      .map((member) => `${name}.${member}`),
  );
}

/**
 * Looks at kafkajs's inside before it is patched: at its functions, and at an object of each class.
 *
 * @throws Error that names what is missing
 */
export function requireKnown(kafkajs: Internals): void {
  const missing = missingOf(kafkajs);
  if (missing.length > 0) {
    throw new Error(
      `the kafkajs that is installed has no ${missing.join(', ')}; ` +
        `this program is made for kafkajs ${KAFKAJS_VERSION}: run npm ci`,
    );
  }
}
