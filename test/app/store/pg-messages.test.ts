import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { answerLimit } from '../../../app/network/invalid-answer.ts';
import { createClient } from '../../../app/store/connection/database-connection.ts';
import { asStreamError } from '../../../app/store/connection/refused-connections.ts';
import { verdictOn } from '../../../app/store/connection/sqlstate.ts';
import { CopyQuery } from '../../../app/store/copy/binary-copy.ts';
import { FatalError } from '../../../app/stream/ports/stream-errors.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A server whose connections end with the test: a client that was refused something leaves its own open. */
async function listening(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    open.push(() => socket.destroy());
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that answers what it is sent with these bytes, once more for each piece. */
const stub = (...answers: readonly Buffer[]): Promise<number> =>
  listening((socket) => {
    const left = [...answers];
    socket.on('data', () => socket.write(left.shift() ?? Buffer.alloc(0)));
  });

function message(type: string, length: number, content: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(length, 1);
  return Buffer.concat([head, content]);
}

const whole = (type: string, content: Buffer): Buffer => message(type, 4 + content.length, content);
const OK = Buffer.concat([whole('R', Buffer.alloc(4)), whole('Z', Buffer.from('I'))]);

async function connected(...answers: readonly Buffer[]) {
  const config = {
    host: '127.0.0.1',
    port: await stub(...answers),
    user: 'u',
    password: 'p',
    database: 'd',
    ssl: false,
  };
  const client = createClient({ name: 'stub', config, session: 'any', isBound: false });
  const lost = new Promise<Error>((resolve) => client.on('error', resolve));
  await client.connect();
  return { client, lost };
}

const most = answerLimit();

test.each([
  ['a message of 2^31−1 bytes', message('D', 0x7fffffff), new RegExp(`2147483647 bytes, and 4 to ${most} are taken`)],
  ['a message of −1 byte', message('D', -1), /of 4294967295 bytes/],
  ['a message of 2 bytes', message('Z', 2), /of 2 bytes, and 4 to 30000/],
  ['a long message of a type that is short', message('R', 30_001), /of 30001 bytes, and 4 to 30000/],
  ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /letters of HTTP/],
  ['an alert of TLS', Buffer.from([0x15, 3, 3, 0, 2, 2, 40]), /this is TLS/],
])('%s in the place of a login is refused by name', async (_, answer, words) => {
  const error = await connected(answer).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: 'INVALID_ANSWER', message: expect.stringMatching(words) });
  expect(verdictOn(error)).toBe('retry');
});

const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

test.each([
  ['a row of −1 fields', whole('D', int16(-1)), /cannot be read: Invalid array length/],
  ['a row of more fields than it has', whole('D', int16(100)), /cannot be read/],
  ['columns of −1 fields', whole('T', int16(-1)), /cannot be read: Invalid array length/],
  ['a long message behind another one', Buffer.concat([whole('T', int16(0)), message('Z', 40_000)]), /of 40000 bytes/],
])('%s ends the connection by name, and not the process', async (_, answer, words) => {
  const { client, lost } = await connected(OK, answer);
  const failure = client.query('SELECT 1').catch((error: unknown) => error);
  expect(await failure).toMatchObject({ code: 'INVALID_ANSWER', message: expect.stringMatching(words) });
  expect(await lost).toMatchObject({ code: 'INVALID_ANSWER' });
});

test('what fails after a message was read is no fault of PostgreSQL: it ends the connection, and then the consumer', async () => {
  const copyIn = whole('G', Buffer.alloc(3));
  const { client, lost } = await connected(OK, copyIn);
  const fault = new TypeError('of a handler');
  const rows = [{ format: 'binary', rows: [] }] as const;
  const copy = new CopyQuery('COPY t FROM STDIN', rows, () => {
    throw fault;
  });
  client.query(copy);
  await expect(copy.tags).rejects.toBe(fault);
  expect(await lost).toBe(fault);
  expect(asStreamError(fault)).toBeInstanceOf(FatalError);
});

test('a login by SCRAM with 2^31 iterations is refused before the work', async () => {
  const sasl = whole('R', Buffer.concat([Buffer.from([0, 0, 0, 10]), Buffer.from('SCRAM-SHA-256\0\0')]));
  const port = await listening((socket) => {
    socket.once('data', () => {
      socket.write(sasl);
      socket.once('data', (first: Buffer) => {
        const nonce = /r=([^,]+)/.exec(first.toString('latin1'))?.[1];
        const text = `r=${nonce}x,s=c2FsdA==,i=2147483648`;
        socket.write(whole('R', Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from(text)])));
      });
    });
  });
  const config = { host: '127.0.0.1', port, user: 'u', password: 'p', ssl: false };
  const client = createClient({ name: 'stub', config, session: 'any', isBound: false });
  client.on('error', () => undefined);
  await expect(client.connect()).rejects.toThrow('iteration count 2147483648 exceeds');
});

test('messages that come in single bytes are read', async () => {
  const port = await listening((socket) => {
    socket.once('data', () => {
      for (const byte of OK) socket.write(Buffer.from([byte]));
    });
  });
  const config = { host: '127.0.0.1', port, user: 'u', password: 'p', ssl: false };
  const client = createClient({ name: 'stub', config, session: 'any', isBound: false });
  await client.connect();
  await client.end();
});
