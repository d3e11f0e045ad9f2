import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { KafkaConfig } from 'kafkajs';
import { topicsRequest } from '../../../../app/kafka/kafkajs/admin-requests.ts';
import { loadKafkajs } from '../../../../app/kafka/kafkajs/patches.ts';
import { answerLimit } from '../../../../app/network/invalid-answer.ts';

const require = createRequire(import.meta.url);

const MEBIBYTE = 2 ** 20;

const open: { close(): void }[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of open.splice(0)) server.close();
});

/** A listener in the place of a broker. @param answer what it sends for each piece that comes */
async function stub(answer: (piece: Buffer, nth: number) => Buffer): Promise<string> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    let nth = 0;
    socket.on('data', (piece) => {
      socket.write(answer(piece, nth));
      nth += 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failureAt(broker: string, config: Partial<KafkaConfig> = {}): Promise<Error> {
  const { Kafka, logLevel } = loadKafkajs();
  const kafka = new Kafka({ ...config, brokers: [broker], logLevel: logLevel.NOTHING, retry: { retries: 0 } });
  const admin = kafka.admin();
  try {
    await admin.connect();
    await admin.listTopics();
    return new Error('it was connected to');
  } catch (error) {
    return error as Error;
  } finally {
    await admin.disconnect();
  }
}

function int32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [nth, value] of values.entries()) bytes.writeInt32BE(value, 4 * nth);
  return bytes;
}

const most = answerLimit();

test.each([
  ['the size −1', int32(-1, 0), `of the size -1, and 4 to ${most} bytes are taken (it begins with ffffffff00000000)`],
  ['the size 0', int32(0, 0), 'of the size 0, and 4 to'],
  ['the size 2', int32(2, 0), 'of the size 2, and 4 to'],
  ['the size 2^31−1', int32(0x7fffffff, 0), 'of the size 2147483647'],
  ['one byte more than the bound', int32(most + 1, 0), `of the size ${most + 1}`],
  ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'letters of HTTP'],
  ['an alert of TLS', Buffer.from([0x15, 3, 3, 0, 2, 2, 40, 0]), 'this is TLS'],
])('a listener that answers with %s is refused at once, by name', async (_, answer, words) => {
  const broker = await stub(() => answer);
  const failure = await failureAt(broker);
  expect(failure.message).toContain(`${broker} sent an answer`);
  expect(failure.message).toContain(words);
});

/** The head of a request: its kind and correlation id. */
const headOf = (request: Buffer) => ({ kind: request.readInt16BE(4), correlation: request.readInt32BE(8) });

/** An answer of so many bytes behind the correlation id. */
const answerTo = (request: Buffer, body: Buffer): Buffer =>
  Buffer.concat([int32(4 + body.length, headOf(request).correlation), body]);

const int16 = (value: number): Buffer => Buffer.from([(value >> 8) & 0xff, value & 0xff]);

/** ApiVersions of a broker with SaslHandshake 1, SaslAuthenticate 0, Metadata 0 to 5. */
const VERSIONS = Buffer.concat([
  ...[int16(0), int32(4)],
  ...[
    [18, 0, 0],
    [17, 0, 1],
    [36, 0, 0],
    [3, 0, 5],
  ]
    .flat()
    .map(int16),
]);

test.each([
  ['2^31−1 versions', Buffer.concat([int16(0), int32(0x7fffffff)]), 'counts 2147483647 items, and 0 bytes are left'],
  ['−2 versions', Buffer.concat([int16(0), int32(-2)]), 'counts -2 items'],
])('an answer that counts %s fails its request by name', async (_, body, words) => {
  const broker = await stub((request) => answerTo(request, body));
  const failure = await failureAt(broker);
  expect(failure.message).toContain(words);
});

interface Answer {
  readonly correlationId: number;
  readonly payload: Buffer;
}

/** A connection of kafkajs that hands its answers on. */
function connectionTo(answered: (correlationId: number, payload: Buffer) => void, socket: object = {}) {
  loadKafkajs();
  const KafkajsConnection = require('kafkajs/src/network/connection') as { readonly prototype: object };
  return Object.assign(Object.create(KafkajsConnection.prototype), {
    authHandlers: null,
    socket,
    requestQueue: { fulfillRequest: ({ correlationId, payload }: Answer) => answered(correlationId, payload) },
  });
}

test('an answer in single bytes is read, and what a lost connection left is no beginning of the next one', () => {
  const answers: number[] = [];
  const connection = connectionTo((correlationId) => answers.push(correlationId));
  for (const byte of int32(4, 1, 4, 2)) connection.processData(Buffer.from([byte]));
  connection.processData(Buffer.concat([int32(4, 3, 8, 4), Buffer.alloc(3)]));
  expect(answers).toEqual([1, 2, 3]);
  connection.socket = {};
  connection.processData(int32(4, 5));
  expect(answers).toEqual([1, 2, 3, 5]);
});

test('answers in any pieces stay as they came, also when the memory of a piece is used again', () => {
  const answersOf = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });
  const piecesOf = fc.infiniteStream(fc.integer({ min: 1, max: 90 }));
  fc.assert(
    fc.property(answersOf, piecesOf, (bodies, sizes) => {
      const answers: Buffer[] = [];
      const connection = connectionTo((correlationId, payload) => answers.push(Buffer.from([correlationId]), payload));
      const bytes = Buffer.concat(bodies.flatMap((body, nth) => [int32(4 + body.length, nth), body]));
      const memory = Buffer.alloc(90);
      for (let at = 0; at < bytes.length; ) {
        const copied = bytes.copy(memory, 0, at, at + (sizes.next().value ?? 1));
        connection.processData(memory.subarray(0, copied));
        memory.fill(0xee);
        at += copied;
      }
      expect(answers).toEqual(bodies.flatMap((body, nth) => [Buffer.from([nth]), Buffer.from(body)]));
    }),
  );
});

test('an answer takes memory of its own size once, however many pieces it comes in', () => {
  const payloads: Buffer[] = [];
  const connection = connectionTo((_, payload) => payloads.push(payload));
  const body = Buffer.alloc(3 * MEBIBYTE, 'x');
  const bytes = Buffer.concat([int32(4 + body.length, 1), body]);
  const before = process.memoryUsage().arrayBuffers;
  for (let at = 0; at < bytes.length; at += 65_536) connection.processData(bytes.subarray(at, at + 65_536));
  expect(payloads.map((payload) => payload.equals(body))).toEqual([true]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MEBIBYTE);
});

test('what fails after an answer was read is no fault of the broker: the connection stays, and the error is thrown', () => {
  const ended: unknown[] = [];
  const fault = new TypeError('of a listener');
  const answers: number[] = [];
  const listener = (correlationId: number) => {
    answers.push(correlationId);
    throw fault;
  };
  const connection = connectionTo(listener, { destroy: (reason: unknown) => ended.push(reason) });
  expect(() => connection.processData(int32(4, 1, 4, 2, 4))).toThrow(fault);
  expect(() => connection.processData(int32(3))).toThrow(fault);
  expect(answers).toEqual([1, 2, 3]);
  expect(ended).toEqual([]);
});

test('what came whole before bytes that are no answer is still delivered', () => {
  const answers: number[] = [];
  const ended: Error[] = [];
  const connection = connectionTo((correlationId) => answers.push(correlationId), {
    destroy: (reason: Error) => ended.push(reason),
  });
  connection.processData(int32(4, 1, -1, 0));
  connection.processData(int32(4, 2));
  expect(answers).toEqual([1]);
  expect(ended.map(({ message }) => message)).toEqual([expect.stringContaining('an answer of the size -1')]);
});

test('a login whose answer is decoded at once succeeds at a broker without SaslAuthenticate', async () => {
  const socket = new EventEmitter();
  const connection = Object.assign(
    connectionTo(() => undefined, Object.assign(socket, { write: () => socket.emit('written') })),
    { isConnected: () => true },
  );
  const response = { decode: (answered: Buffer) => answered, parse: (answered: Buffer) => answered.toString('hex') };
  const login = connection.sendAuthRequest({ request: { encode: () => Buffer.from('token') }, response });
  await once(socket, 'written');
  connection.processData(Buffer.concat([int32(2), Buffer.from('ok')]));
  expect(await login).toBe(Buffer.from('\0\0\0\x02ok').toString('hex'));
});

test('a login by SCRAM with 2^31 iterations is refused before the work', async () => {
  const broker = await stub((request) => {
    const { kind } = headOf(request);
    if (kind === 18) return answerTo(request, VERSIONS);
    if (kind === 17)
      return answerTo(request, Buffer.concat([int16(0), int32(1), int16(13), Buffer.from('SCRAM-SHA-256')]));
    const nonce = /r=([^,]+)/.exec(request.toString('latin1'))?.[1];
    const text = Buffer.from(`r=${nonce}x,s=c2FsdA==,i=2147483648`);
    return answerTo(request, Buffer.concat([int16(0), int16(-1), int32(text.length), text]));
  });
  const sasl = { mechanism: 'scram-sha-256', username: 'u', password: 'p' } as const;
  const failure = await failureAt(broker, { sasl });
  expect(failure.message).toContain('asks for 2147483648 iterations, and at most 1000000 are made');
});

interface Decoder {
  offset: number;
  [method: string]: unknown;
}

/** A head of Metadata 12 up to its brokers: no tags, and zeros. */
const METADATA_HEAD = Buffer.alloc(5);
/** 2^32−1 as a varint, and one without an end. */
const MANY = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]);
const ENDLESS = Buffer.alloc(MEBIBYTE, 0x80);

const metadata = () => topicsRequest(12, ['t'])?.response;

test.each([
  ['2^32−1 tags', metadata, MANY],
  ['2^32−1 brokers', metadata, Buffer.concat([METADATA_HEAD, MANY])],
  ['a tag of 2^32−1 bytes', metadata, Buffer.concat([Buffer.from([1, 0]), MANY])],
  ['a varint of a megabyte', metadata, ENDLESS],
  ['nothing', metadata, Buffer.alloc(0)],
])('an answer by topic ids that tells %s fails by name', async (_, response, bytes) => {
  loadKafkajs();
  const failure = await response()
    ?.decode(bytes)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(failure).toMatchObject({ name: 'KafkaJSError', code: 'INVALID_ANSWER', retriable: true });
});

const READERS = [
  'readVarInt',
  'readUVarInt',
  'readVarLong',
  'readInt8',
  'readInt16',
  'readInt32',
  'readInt64',
  'readDouble',
  'readString',
  'readVarIntString',
].concat(...[['readUVarIntString', 'readBytes', 'readVarIntBytes', 'readUVarIntBytes', 'readTaggedFields']]);
const ARRAYS = ['readArray', 'readVarIntArray', 'readUVarIntArray', 'readArrayAsync'];

test('whatever bytes come, a reader takes what is there or fails; none reads beyond, or makes more items than bytes', async () => {
  loadKafkajs();
  const KafkajsDecoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => Decoder;
  const call = async (decoder: Decoder, method: string): Promise<unknown> => {
    const read = decoder[method] as (item?: (of: Decoder) => unknown) => unknown;
    return ARRAYS.includes(method)
      ? read.call(decoder, (of) => (of['readInt8'] as () => number).call(of))
      : read.call(decoder);
  };
  const bytesOf = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.tuple(fc.integer(), fc.uint8Array({ maxLength: 9 })).map(([size, rest]) => Buffer.concat([int32(size), rest])),
    fc.constant(Buffer.alloc(MEBIBYTE, 0x80)),
  );
  await fc.assert(
    fc.asyncProperty(bytesOf, fc.constantFrom(...READERS, ...ARRAYS), async (content, method) => {
      const bytes = Buffer.from(content);
      const decoder = new KafkajsDecoder(bytes);
      const result = await call(decoder, method).catch((error: Error) => error);
      if (result instanceof Error) {
        expect(result.name).toMatch(/^KafkaJS/);
      } else {
        expect(decoder.offset).toBeLessThanOrEqual(bytes.length);
        expect(Array.isArray(result) ? result.length : 0).toBeLessThanOrEqual(bytes.length);
      }
    }),
    { numRuns: 500 },
  );
});
