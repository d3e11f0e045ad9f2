import { CompressionCodecs, type CompressionTypes } from 'kafkajs';

const SNAPPY = 2 as CompressionTypes.Snappy;
const LONGEST_LITERAL = 65_536;
/** The tag of a literal whose length follows in two bytes. */
const LITERAL_OF_TWO_BYTES = 61 << 2;

/**
 * Teaches this process's kafkajs to produce in snappy, a codec that brokers read and kafkajs as shipped does not. Nothing
 * is compressed: the block is made of literals only.
 *
 * @returns the compression to produce with.
 */
export function registerSnappy(): CompressionTypes {
  CompressionCodecs[SNAPPY] = () => ({ compress: async ({ buffer }: { buffer: Buffer }) => literals(buffer) });
  return SNAPPY;
}

function literals(bytes: Buffer): Buffer {
  const parts = [varint(bytes.length)];
  for (let from = 0; from < bytes.length; from += LONGEST_LITERAL) {
    const part = bytes.subarray(from, from + LONGEST_LITERAL);
    const head = Buffer.from([LITERAL_OF_TWO_BYTES, 0, 0]);
    head.writeUInt16LE(part.length - 1, 1);
    parts.push(head, part);
  }
  return Buffer.concat(parts);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) {
      return Buffer.from([...bytes, rest]);
    }
    bytes.push((rest & 0x7f) | 0x80);
  }
}
