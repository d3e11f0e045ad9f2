import { once } from 'node:events';
import { connect } from 'node:net';
import { sharedBroker } from './shared-stack.ts';

const ALTER_CLIENT_QUOTAS = 49;

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const float64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
};

const string = (text: string): Buffer => Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)]);

const FALSE = Buffer.of(0);

/**
 * Lets the broker hand out only so many bytes in a second to all clients of this name. kafkajs has no such request;
 * this is AlterClientQuotas v0 (KIP-546).
 */
export async function limitFetches(clientId: string, bytesPerSecond: number, broker = sharedBroker()): Promise<void> {
  const entity = [int32(1), string('client-id'), string(clientId)];
  const change = [int32(1), string('consumer_byte_rate'), float64(bytesPerSecond), FALSE];
  const body = Buffer.concat([int32(1), ...entity, ...change, FALSE]);
  const head = Buffer.concat([int16(ALTER_CLIENT_QUOTAS), int16(0), int32(0), string('test')]);
  const [host = '', port = ''] = broker.split(':');
  const socket = connect(Number(port), host);
  socket.write(Buffer.concat([int32(head.length + body.length), head, body]));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  // Size, correlation id, throttle time and number of entries stand in front of the first entry's code.
  const code = answer.readInt16BE(16);
  if (code !== 0) {
    throw new Error(`the quota of ${clientId} was refused with code ${code}`);
  }
}
