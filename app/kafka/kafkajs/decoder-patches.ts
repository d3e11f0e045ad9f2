import { InvalidAnswerError } from '../../network/invalid-answer.ts';
import { VARINT_BYTES, VARLONG_BYTES } from '../../records/record-reader.ts';
import type { Decoder, Reader } from './classes.ts';
import { internals } from './internals.ts';

/** @throws KafkaJSError, which passes, as a broker's restart does */
function invalidField(text: string): Error {
  const error = new InvalidAnswerError(`an answer of Kafka ${text}: a proxy or a wrong port answers like that`);
  return Object.assign(new internals.errors.KafkaJSError(error), { code: error.code, cause: error });
}

const leftIn = ({ buffer, offset }: Decoder): number => buffer.length - offset;

/** @throws Error when so many bytes are not left */
function requireLeft(decoder: Decoder, bytes: number): void {
  if (!(bytes >= 0 && bytes <= leftIn(decoder))) {
    throw invalidField(`has a field of ${bytes} bytes, and ${leftIn(decoder)} are left`);
  }
}

/** @throws Error when no varint is next, whose last byte has no highest bit */
function requireVarint(decoder: Decoder, longest: number): void {
  const { buffer, offset } = decoder;
  for (let length = 1; length <= longest; length += 1) {
    requireLeft(decoder, length);
    if ((buffer[offset + length - 1] ?? 0) < 0x80) {
      return;
    }
  }
  throw invalidField(`has a number of more than ${longest} bytes`);
}

/** Reads the items one by one: no memory is taken for what is counted and is not there. */
function readItems<T>(decoder: Decoder, count: number, read: Reader<T>): T[] {
  requireItems(decoder, count);
  const items: T[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    items.push(read(decoder));
  }
  return items;
}

/** Each item has a byte at least. */
function requireItems(decoder: Decoder, count: number): void {
  if (count < 0 || count > leftIn(decoder)) {
    throw invalidField(`counts ${count} items, and ${leftIn(decoder)} bytes are left for them`);
  }
}

/** Goes over so many bytes. @returns where they begin */
function goOver(decoder: Decoder, bytes: number): number {
  requireLeft(decoder, bytes);
  decoder.offset += bytes;
  return decoder.offset - bytes;
}

function readBytes(decoder: Decoder, length: number): Buffer {
  const from = goOver(decoder, length);
  return decoder.buffer.subarray(from, decoder.offset);
}

const NULL = -1;
const bytesOrNull = (decoder: Decoder, length: number): Buffer | null =>
  length === NULL ? null : readBytes(decoder, length);
const stringOrNull = (decoder: Decoder, length: number): string | null =>
  bytesOrNull(decoder, length)?.toString('utf8') ?? null;

/**
 * Lets kafkajs's decoder believe no length and no count. As shipped a count of 2^32 items is counted to its end, or is
 * memory at once. A number goes on for as long as its bytes do, and what is missing is read as nothing.
 *
 * @param prototype that of kafkajs's decoder
 */
export function boundDecoder(prototype: Decoder): void {
  const { readVarInt, readUVarInt, readVarLong } = prototype;
  Object.assign(prototype, {
    readVarInt(this: Decoder): number {
      requireVarint(this, VARINT_BYTES);
      return readVarInt.call(this);
    },
    readUVarInt(this: Decoder): number {
      requireVarint(this, VARINT_BYTES);
      return readUVarInt.call(this);
    },
    readVarLong(this: Decoder): unknown {
      requireVarint(this, VARLONG_BYTES);
      return readVarLong.call(this);
    },
    ...valueReaders,
    ...arrayReaders,
  });
}

/** The readers of numbers, texts and bytes. */
const valueReaders = {
  readInt8(this: Decoder): number {
    return this.buffer.readInt8(goOver(this, 1));
  },
  readInt16(this: Decoder): number {
    return this.buffer.readInt16BE(goOver(this, 2));
  },
  readInt32(this: Decoder): number {
    return this.buffer.readInt32BE(goOver(this, 4));
  },
  readDouble(this: Decoder): number {
    return this.buffer.readDoubleBE(goOver(this, 8));
  },
  readInt64(this: Decoder): bigint {
    return this.buffer.readBigInt64BE(goOver(this, 8));
  },
  forward(this: Decoder, size: number): void {
    goOver(this, size);
  },
  readString(this: Decoder): string | null {
    return stringOrNull(this, this.readInt16());
  },
  readVarIntString(this: Decoder): string | null {
    return stringOrNull(this, this.readVarInt());
  },
  readUVarIntString(this: Decoder): string | null {
    return stringOrNull(this, this.readUVarInt() - 1);
  },
  readBytes(this: Decoder, length: number = this.readInt32()): Buffer | null {
    return bytesOrNull(this, length);
  },
  readVarIntBytes(this: Decoder): Buffer | null {
    return bytesOrNull(this, this.readVarInt());
  },
  readUVarIntBytes(this: Decoder): Buffer | null {
    return bytesOrNull(this, this.readUVarInt() - 1);
  },
};

/** The readers of arrays, of which -1, and 0 in the compact form, is none. */
const arrayReaders = {
  readArray<T>(this: Decoder, read: Reader<T>): T[] {
    const count = this.readInt32();
    return count === NULL ? [] : readItems(this, count, read);
  },
  readVarIntArray<T>(this: Decoder, read: Reader<T>): T[] {
    const count = this.readVarInt();
    return count === NULL ? [] : readItems(this, count, read);
  },
  readUVarIntArray<T>(this: Decoder, read: Reader<T>): T[] | null {
    const count = this.readUVarInt() - 1;
    return count === NULL ? null : readItems(this, count, read);
  },
  async readArrayAsync<T>(this: Decoder, read: Reader<Promise<T>>): Promise<T[]> {
    const count = this.readInt32();
    requireItems(this, count === NULL ? 0 : count);
    const items: T[] = [];
    for (let nth = 0; nth < count; nth += 1) {
      items.push(await read(this));
    }
    return items;
  },
};
