import { once } from 'node:events';
import { connect } from 'node:net';

const ALTER_CLIENT_QUOTAS = 49;
const TIMEOUT_MS = 30_000;

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

const boolean = (value: boolean): Buffer => Buffer.of(value ? 1 : 0);

const string = (text: string): Buffer => Buffer.concat([int16(Buffer.byteLength(text)), Buffer.from(text)]);

/**
 * Lets a broker hand out only so many bytes in a second to all clients of one name. kafkajs has no such request: this
 * is AlterClientQuotas v0 (KIP-546).
 *
 * @param bytesPerSecond undefined: no limit.
 * @throws Error when the broker refuses, is away, or does not answer within 5 s.
 */
export async function limitFetches(
  broker: string,
  clientId: string,
  bytesPerSecond: number | undefined,
): Promise<void> {
  const entity = [int32(1), string('client-id'), string(clientId)];
  const isRemoval = boolean(bytesPerSecond === undefined);
  const change = [int32(1), string('consumer_byte_rate'), float64(bytesPerSecond ?? 0), isRemoval];
  const head = [int16(ALTER_CLIENT_QUOTAS), int16(0), int32(0), string('quota')];
  const request = Buffer.concat([...head, int32(1), ...entity, ...change, boolean(false)]);
  const [host = '', port = ''] = broker.split(':');
  const socket = connect(Number(port), host);
  try {
    socket.write(Buffer.concat([int32(request.length), request]));
    const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) })) as [Buffer];
    // Size, correlation id, throttle time and number of entries are in front of the first entry's code.
    const code = answer.readInt16BE(16);
    if (code !== 0) {
      throw new Error(`the quota of ${clientId} was refused with code ${code}`);
    }
  } finally {
    socket.destroy();
  }
}
