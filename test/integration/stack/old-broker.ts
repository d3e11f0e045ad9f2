import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../dev/run/free-port.ts';
import { type LocalKafka, startLocalKafka } from '../../../dev/stack/local-kafka.ts';
import { testRun } from './test-run.ts';

const FETCH = 1;
const API_VERSIONS = 18;

/** What Kafka 2.1 offers, the oldest broker that Kafka 4's own clients still work with: the last version of each request. */
export const KAFKA_2_1: ReadonlyMap<number, number> = new Map(
  [
    [7, 10, 4, 7, 1, 0, 4, 1, 6, 5, 2, 3, 2, 2, 2, 2, 2, 1, 2, 3, 3, 1, 1],
    [2, 1, 1, 1, 0, 2, 1, 1, 1, 2, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1],
  ]
    .flat()
    .map((version, key) => [key, version]),
);

/** A Kafka that offers no more of its requests than an older one, and what it was asked by. */
export interface OldBroker {
  readonly kafka: LocalKafka;
  /** `host:port` of the way to it. */
  readonly broker: string;
  /** The versions of the fetches that came. */
  readonly fetchVersions: ReadonlySet<number>;
}

/** Calls with each frame of a stream, its length in front. */
function eachFrame(socket: Socket, take: (frame: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (let end = 0; rest.length >= 4; rest = rest.subarray(end)) {
      end = 4 + rest.readInt32BE(0);
      if (rest.length < end) return;
      take(rest.subarray(0, end));
    }
  });
}

/** Lowers the latest versions in an answer to ApiVersions 0 to 2: error, then key, first and last version of each request. */
function lower(frame: Buffer, latest: ReadonlyMap<number, number>): void {
  const entries = frame.readInt32BE(10);
  for (let nth = 0; nth < entries; nth += 1) {
    const at = 14 + nth * 6;
    const most = latest.get(frame.readInt16BE(at));
    if (most !== undefined) frame.writeInt16BE(Math.min(most, frame.readInt16BE(at + 4)), at + 4);
  }
}

/**
 * Starts a Kafka whose clients are told by a proxy that it offers these versions at most; it ends with the test file.
 *
 * @param latest the last version of each request, by its key
 */
export async function startOldBroker(latest: ReadonlyMap<number, number>): Promise<OldBroker> {
  const run = await testRun();
  const port = await freePort();
  const kafka = await startLocalKafka(run, { advertisedPort: port });
  const fetchVersions = new Set<number>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ host: '127.0.0.1', port: Number(kafka.broker.split(':')[1]) });
    const asked = new Set<number>();
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => other.destroy());
    }
    eachFrame(client, (frame) => {
      const [key, version, correlationId] = [frame.readInt16BE(4), frame.readInt16BE(6), frame.readInt32BE(8)];
      if (key === API_VERSIONS) asked.add(correlationId);
      if (key === FETCH) fetchVersions.add(version);
      upstream.write(frame);
    });
    eachFrame(upstream, (frame) => {
      if (asked.delete(frame.readInt32BE(4))) lower(frame, latest);
      client.write(frame);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  run.beforeClose(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { kafka, broker: `127.0.0.1:${port}`, fetchVersions };
}
