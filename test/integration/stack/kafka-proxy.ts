import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { startLocalKafka } from '../../../dev/stack/local-kafka.ts';
import { testRun } from './test-run.ts';

/** Kafka's numbers of the kinds of requests. */
export const REQUEST = {
  fetch: 1,
  listOffsets: 2,
  offsetCommit: 8,
  offsetFetch: 9,
  joinGroup: 11,
  heartbeat: 12,
  leaveGroup: 13,
  syncGroup: 14,
  apiVersions: 18,
} as const;

/** A client's connection to the broker. */
export interface ProxiedConnection {
  /** The kinds of requests that came over it so far. */
  readonly kinds: ReadonlySet<number>;
  /** Ends it, as a broker does. */
  end(): void;
}

/** A request as a client sent it. */
interface ProxiedRequest {
  readonly kind: number;
  readonly bytes: Buffer;
  readonly connection: ProxiedConnection;
}

/** A Kafka whose clients all come through a proxy that reads their requests. */
export interface ProxiedKafka {
  /** `host:port` of the proxy, which the broker tells its clients as well. */
  readonly broker: string;
  /** The connections that are open. */
  readonly connections: ReadonlySet<ProxiedConnection>;
  /** From now on the broker gets only those requests that are let through; the others stay without an answer. */
  letThrough(isLet: (request: ProxiedRequest) => boolean): void;
}

/** Starts a Kafka behind a proxy; both end with the test file. */
export async function startProxiedKafka(): Promise<ProxiedKafka> {
  const connections = new Set<ProxiedConnection>();
  let isLet = (_request: ProxiedRequest): boolean => true;
  let target = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const broker = connect({ port: target, host: '127.0.0.1', noDelay: true });
    const kinds = new Set<number>();
    const connection = { kinds, end: () => client.end() };
    connections.add(connection);
    client.on('close', () => connections.delete(connection));
    closeTogether(client, broker);
    broker.pipe(client);
    onEachRequest(client, (kind, bytes) => {
      kinds.add(kind);
      if (isLet({ kind, bytes, connection })) broker.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const run = await testRun();
  run.beforeClose(async () => {
    server.close();
    for (const connection of connections) connection.end();
  });
  const kafka = await startLocalKafka(run, { advertisedPort: port });
  target = Number(kafka.broker.split(':')[1]);
  return {
    broker: `127.0.0.1:${port}`,
    connections,
    letThrough: (chosen) => {
      isLet = chosen;
    },
  };
}

function closeTogether(client: Socket, broker: Socket): void {
  client.on('error', () => undefined).on('close', () => broker.destroy());
  broker.on('error', () => undefined).on('close', () => client.destroy());
}

/** Cuts what a client sends into its requests, each of which stands behind its size and begins with its kind. */
function onEachRequest(client: Socket, onRequest: (kind: number, bytes: Buffer) => void): void {
  let received: Buffer = Buffer.alloc(0);
  client.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const bytes = received.subarray(0, 4 + received.readInt32BE(0));
      received = received.subarray(bytes.length);
      onRequest(bytes.readInt16BE(4), bytes);
    }
  });
}
