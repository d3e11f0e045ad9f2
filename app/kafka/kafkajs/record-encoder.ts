import type { RecordHeader } from '../../records/record.ts';
import type { Encoder } from './classes.ts';
import { KafkajsEncoder } from './flexible-versions.ts';

interface ProducedRecord {
  readonly offsetDelta: number;
  readonly timestampDelta: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
}

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
    const key = typeof header.key === 'string' ? Buffer.from(header.key, 'utf8') : header.key;
    body.writeVarIntBytes(key).writeVarIntBytes(header.value);
  }
  return new KafkajsEncoder().writeVarInt(body.size()).writeEncoder(body);
}
