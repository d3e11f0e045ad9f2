import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Message } from 'kafkajs';

const require = createRequire(import.meta.url);
/** What a producer of kafkajs sends. */
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as {
  readonly RecordBatch: (batch: {
    readonly lastOffsetDelta: number;
    readonly records: readonly unknown[];
  }) => Promise<{ readonly buffer: Buffer }>;
};
const recordOf = require('kafkajs/src/protocol/recordBatch/record/v0') as (record: {
  readonly offsetDelta: number;
  readonly key: Message['key'];
  readonly value: Message['value'];
}) => unknown;

/** Record set of one batch, as it is in the answer to a fetch. */
export async function recordSetOf(messages: readonly Message[]): Promise<Buffer> {
  const records = messages.map(({ key, value }, offsetDelta) => recordOf({ offsetDelta, key, value }));
  return (await RecordBatch({ lastOffsetDelta: records.length - 1, records })).buffer;
}

/** Sends a record set over each connection, again and again, as fast as it is taken. */
export async function serveRecordSet(set: Buffer): Promise<{ readonly port: number; close(): void }> {
  const sendOn = (socket: Socket): void => {
    while (!socket.destroyed && socket.write(set));
  };
  const server = createServer((socket) => {
    socket.on('drain', () => sendOn(socket)).on('error', () => undefined);
    sendOn(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
