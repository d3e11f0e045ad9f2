import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { DatabasePool } from '../../../app/store/connection/database-pool.ts';
import { load, REQUIRED } from '../configuration/loading.ts';
import { type TestCertificate, testCertificate } from '../management/test-certificate.ts';

const SSL_REQUEST = 80_877_103;

/** A message of the server: its type, and what follows the length. */
const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

const authentication = (code: number, rest = ''): Buffer => {
  const body = Buffer.alloc(4);
  body.writeInt32BE(code);
  return message('R', Buffer.concat([body, Buffer.from(rest)]));
};

/** What a server asks for (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const ASKED = {
  cleartext: authentication(3),
  MD5: authentication(5, 'salt'),
  SCRAM: authentication(10, 'SCRAM-SHA-256\0\0'),
};

const REFUSAL = message('E', Buffer.from('SFATAL\0VFATAL\0C28P01\0Mno such login\0\0'));

let certificate: TestCertificate;
const servers: Server[] = [];

beforeAll(async () => {
  certificate = await testCertificate('localhost');
});

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
  }
});

/** Asks each connection for a password, over TLS where it wants that, and refuses it. */
async function startServer(asked: Buffer): Promise<number> {
  const logIn = (socket: Socket): void => {
    socket.once('data', () => {
      socket.write(asked);
      socket.once('data', () => socket.end(REFUSAL));
    });
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (first) => {
      if (first.readInt32BE(4) !== SSL_REQUEST) {
        socket.unshift(first);
        logIn(socket);
        return;
      }
      socket.write('S');
      logIn(new TLSSocket(socket, { isServer: true, ...certificate }));
    });
  });
  servers.push(server);
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** The warnings of a pool that connects twice. */
async function warningsOf(asked: Buffer, host: string, parameters = ''): Promise<readonly string[]> {
  const port = await startServer(asked);
  const url = `postgresql://u:hunter2@${host}:${port}/d${parameters}`;
  const warnings: string[] = [];
  const pool = new DatabasePool(load({ env: { ...REQUIRED, DATABASE_URL: url } }).database, () => undefined, {
    warn: (warning) => warnings.push(warning),
  });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(pool.withClient(async () => undefined)).rejects.toThrow();
  }
  await pool.close();
  return warnings.map((warning) => warning.replace(`${host}:${port}`, 'HOST'));
}

/** An address of this machine that others may reach; undefined on one without a network. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

test.each([
  ['cleartext', /^PostgreSQL at HOST asks for a password in clear text over a connection without TLS, .*sslmode/],
  ['MD5', /^PostgreSQL at HOST asks for an MD5 hash of the password over a connection without TLS, .*sslmode/],
] as const)('a %s password that crosses a network without TLS is warned of once', async (asked, words) => {
  const warnings = await warningsOf(ASKED[asked], outside ?? '127.0.0.1');
  expect(warnings).toEqual(outside === undefined ? [] : [expect.stringMatching(words)]);
  expect(warnings.join()).not.toContain('hunter2');
});

test.each([
  ['SCRAM, which sends no password', 'SCRAM', outside ?? '127.0.0.1', ''],
  ['TLS', 'cleartext', outside ?? '127.0.0.1', '?sslmode=no-verify'],
  ['this machine alone', 'cleartext', '127.0.0.1', ''],
  ['another name of this machine', 'MD5', '[::ffff:127.0.0.2]', ''],
  ['a login that is not made', 'cleartext', outside ?? '127.0.0.1', '?sslmode=no-verify&channel_binding=require'],
] as const)('there is no warning of %s', async (_what, asked, host, parameters) => {
  expect(await warningsOf(ASKED[asked], host, parameters)).toEqual([]);
});
