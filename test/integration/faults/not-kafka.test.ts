import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { longTest } from '../stack/long-test.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

/** The port of a server that does this to connections. */
async function listening(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => void sockets.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const nothing = (): void => undefined;

/** What a wrong port may be, and what the reason of the outage has of it. */
const WRONG: readonly (readonly [name: string, port: () => Promise<number>, says: RegExp])[] = [
  ['a web server', () => listening(createWebServer((_, response) => response.end())), /letters of HTTP/],
  ['a PostgreSQL', async () => Number(new URL(sharedDatabaseUrl()).port), /error of PostgreSQL/],
  ['silent', () => listening(createServer(nothing)), /takes connections, and has answered nothing by Kafka's protocol/],
  [
    'one that closes',
    () => listening(createServer((socket) => socket.once('data', () => socket.destroy()))),
    /takes connections, and has answered nothing by Kafka's protocol/,
  ],
  // Nothing listens at the port of a server that was closed.
  [
    'closed',
    async () => {
      const server = createServer(nothing);
      const port = await listening(server);
      server.close();
      return port;
    },
    /ECONNREFUSED/,
  ],
];

/** What `npm test` looks at; the others take as long, and heard-brokers.test.ts proves their words. */
const SOONEST = 'a PostgreSQL';

for (const [name, port, says] of WRONG) {
  const register = name === SOONEST ? test : longTest;
  register(`the reason why Kafka is away has the address, and what speaks there: ${name}`, async () => {
    const broker = `127.0.0.1:${await port()}`;
    const consumer = await startConsumer({ topics: ['orders'], brokers: [broker] });
    // The first reason may be another one, such as a time-out before the connection was closed.
    const line = await consumer.logs.waitFor(new RegExp(`^(?=.*Kafka is away)(?=.*${says.source})`));
    expect((JSON.parse(line) as { readonly reason: string }).reason).toContain(broker);
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
  });
}
