/**
 * The encoding of flexible versions (KIP-482), on top of kafkajs's encoder and decoder, whose own reading of tagged
 * fields takes their sizes for one too few.
 */
import type { Decoder, Encoder } from './classes.ts';
import { type Classes, internals } from './internals.ts';

export const KafkajsEncoder: Classes['Encoder'] = internals.Encoder;
export const KafkajsDecoder: Classes['Decoder'] = internals.Decoder;

/** An epoch that is not known, or not sent. */
export const NO_EPOCH = -1;

export const TOPIC_ID_BYTES = 16;
/** The id of a topic that the broker does not have. */
export const NO_TOPIC_ID = Buffer.alloc(TOPIC_ID_BYTES).toString('base64url');

/** A topic's id, as `kafka-topics --describe` prints it. */
export function readTopicId(decoder: Decoder): string {
  decoder.forward(TOPIC_ID_BYTES);
  return decoder.buffer.toString('base64url', decoder.offset - TOPIC_ID_BYTES, decoder.offset);
}

export function readInt64(decoder: Decoder): bigint {
  decoder.forward(8);
  return decoder.buffer.readBigInt64BE(decoder.offset - 8);
}

export const writeTags = (encoder: Encoder): Encoder => encoder.writeUVarInt(0);

/** Reads a section of tagged fields, of which one may be looked at. */
export function readTags(decoder: Decoder, wanted = -1, read: () => void = () => undefined): void {
  for (let left = decoder.readUVarInt(); left > 0; left -= 1) {
    const tag = decoder.readUVarInt();
    const size = decoder.readUVarInt();
    const end = decoder.offset + size;
    if (tag === wanted) {
      read();
    }
    decoder.forward(end - decoder.offset);
  }
}

export function writeArray<T>(encoder: Encoder, items: readonly T[], write: (item: T) => void): Encoder {
  encoder.writeUVarInt(items.length + 1);
  items.forEach(write);
  return encoder;
}
