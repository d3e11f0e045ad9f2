import { once } from 'node:events';
import { connect } from 'node:net';
import { sharedBroker } from './shared-stack.ts';

const PRODUCE = { key: 0, version: 3 };
const ONE_ACKNOWLEDGEMENT = 1;
const TIMEOUT_MS = 60_000;
/** Of the answer: its size, correlation id and count of topics; then the topic; then a count and the partition. */
const ERROR_BEHIND_TOPIC = 8;

const int16 = (value: number): Buffer => Buffer.from([(value >> 8) & 0xff, value & 0xff]);

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const text = (value: string): Buffer => Buffer.concat([int16(value.length), Buffer.from(value)]);

/**
 * Produces a batch byte for byte, as no client would make it, by the shared broker.
 *
 * @throws Error when the broker does not take it
 */
export async function produceBatch(topic: string, partition: number, batch: Buffer): Promise<void> {
  const [host = '', port = ''] = sharedBroker().split(':');
  const socket = connect(Number(port), host);
  try {
    const head = [int16(PRODUCE.key), int16(PRODUCE.version), int32(1), text('raw-batch'), int16(-1)];
    const one = [int16(ONE_ACKNOWLEDGEMENT), int32(TIMEOUT_MS), int32(1), text(topic), int32(1), int32(partition)];
    const request = Buffer.concat([...head, ...one, int32(batch.length), batch]);
    socket.write(Buffer.concat([int32(request.length), request]));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    const error = answer.readInt16BE(12 + 2 + topic.length + ERROR_BEHIND_TOPIC);
    if (error !== 0) {
      throw new Error(`the broker answers the batch with error ${error}`);
    }
  } finally {
    socket.destroy();
  }
}
