import { createRequire } from 'node:module';
import type { RecordHeader } from '../stream/record.ts';

const require = createRequire(import.meta.url);

interface Encoder {
  writeInt8(value: number): Encoder;
  writeVarInt(value: number): Encoder;
  writeVarLong(value: number): Encoder;
  writeVarIntBytes(value: Buffer | null): Encoder;
  writeEncoder(value: Encoder): Encoder;
  size(): number;
}

interface ProducedRecord {
  readonly offsetDelta: number;
  readonly timestampDelta: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
}

const KafkajsEncoder = require('kafkajs/src/protocol/encoder') as new () => Encoder;

const NO_ATTRIBUTES = 0;

/** A record of record format v2, with its headers in the order in which they are given. */
export function encodeRecord({ offsetDelta, timestampDelta, key, value, headers }: ProducedRecord): Encoder {
  const body = new KafkajsEncoder()
    .writeInt8(NO_ATTRIBUTES)
    .writeVarLong(timestampDelta)
    .writeVarInt(offsetDelta)
    .writeVarIntBytes(key)
    .writeVarIntBytes(value)
    .writeVarInt(headers.length);
  for (const header of headers) {
    body.writeVarIntBytes(Buffer.from(header.key, 'utf8')).writeVarIntBytes(header.value);
  }
  return new KafkajsEncoder().writeVarInt(body.size()).writeEncoder(body);
}
