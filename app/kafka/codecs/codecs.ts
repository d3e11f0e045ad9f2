import type { Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { unpackLz4 } from './lz4-frame.ts';
import { unpackSnappy } from './snappy.ts';
import { UnpackedSize } from './unpacked-size.ts';

/** The codecs of Kafka by their numbers, which are the lowest bits of a batch's attributes. */
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
const CODEC_MASK = 7;

const GZIP = 1;

/** A batch was packed by a codec that Kafka did not have yet. */
export class UnknownCodecError extends Error {
  override readonly name = 'UnknownCodecError';

  constructor(codec: number) {
    super(`its codec is ${codec}, and ${GZIP} to ${CODECS.length - 1} are known (${CODECS.slice(GZIP).join(', ')})`);
  }
}

/** The name of the codec that attributes name; its number, where Kafka has none of it. */
export const codecOf = (attributes: number): string =>
  CODECS[attributes & CODEC_MASK] ?? String(attributes & CODEC_MASK);

/**
 * Content up to this size is collected in pieces, which are joined, so that twice as much is in memory for a moment.
 * What is larger is unpacked twice: to count it, and into memory that it fits exactly.
 */
const COLLECTED_BYTES = 2 * 1_048_576;

/** Unpacks content of at most so many bytes. */
export type Unpack = (bytes: Buffer, limit: number) => Promise<Buffer>;

/** A decoder of Node's zlib: in one go, and as a stream. */
interface ZlibDecoder {
  readonly unpack: (bytes: Buffer, options: zlib.ZlibOptions) => Promise<Buffer>;
  readonly stream: () => Transform;
}

async function unpackedSizeOf(decoder: Transform, bytes: Buffer, limit: number): Promise<number> {
  const size = new UnpackedSize(limit);
  decoder.end(bytes);
  for await (const piece of decoder) {
    size.add((piece as Buffer).length);
  }
  return size.bytes;
}

const isTooLarge = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';

const unpackByZlib =
  ({ unpack, stream }: ZlibDecoder): Unpack =>
  async (bytes, limit) => {
    try {
      return await unpack(bytes, { maxOutputLength: Math.min(limit, COLLECTED_BYTES) });
    } catch (error) {
      if (!isTooLarge(error)) {
        throw error;
      }
    }
    const size = await unpackedSizeOf(stream(), bytes, limit);
    return unpack(bytes, { maxOutputLength: size, chunkSize: size + 1 });
  };

export const unpackGzip = unpackByZlib({ unpack: promisify(zlib.gunzip), stream: () => zlib.createGunzip() });

/** What Node's zlib has from 22.15 on. */
interface ZlibWithZstd {
  readonly zstdDecompress: typeof zlib.gunzip;
  readonly createZstdDecompress: () => Transform;
}

const { zstdDecompress, createZstdDecompress } = zlib as unknown as Partial<ZlibWithZstd>;

/** Zstd by Node itself; `undefined` before Node.js 22.15. */
export const unpackZstdByNode =
  zstdDecompress && createZstdDecompress
    ? unpackByZlib({ unpack: promisify(zstdDecompress), stream: createZstdDecompress })
    : undefined;

/** RFC 8878, 3.1.1: the parts of a frame that hold its window and its end. */
const FRAME = { magic: 0xfd2fb528, descriptor: 4, windowOrSize: 5, singleSegment: 0x20, checksum: 0x04 };
/** Bytes of the dictionary's id and of the content's size, by their bits in the descriptor. */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const RUN_BLOCK = 1;

/** That of all levels up to 19; RFC 8878 asks no more of a decoder. */
const LARGEST_WINDOW = 8 * 1_048_576;

/** The window that a frame asks for, which fzstd takes memory for, and where its first block is. */
function frameHeader(bytes: Buffer): { readonly window: number; readonly blocksAt: number } {
  if (bytes.readUInt32LE(0) !== FRAME.magic) {
    throw new Error(`it begins with ${bytes.toString('hex', 0, 4)}, and a zstd frame with 28b52ffd`);
  }
  const descriptor = bytes.readUInt8(FRAME.descriptor);
  const isSingle = (descriptor & FRAME.singleSegment) !== 0;
  const sizeAt = FRAME.windowOrSize + (isSingle ? 0 : 1) + (DICTIONARY_ID_BYTES[descriptor & 3] ?? 0);
  const sizeBytes = descriptor >> 6 === 0 && isSingle ? 1 : (CONTENT_SIZE_BYTES[descriptor >> 6] ?? 0);
  if (isSingle) {
    const announced = sizeBytes === 8 ? Number(bytes.readBigUInt64LE(sizeAt)) : bytes.readUIntLE(sizeAt, sizeBytes);
    return { window: announced + (sizeBytes === 2 ? 256 : 0), blocksAt: sizeAt + sizeBytes };
  }
  const [exponent, mantissa] = [bytes.readUInt8(FRAME.windowOrSize) >> 3, bytes.readUInt8(FRAME.windowOrSize) & 7];
  const base = 2 ** (10 + exponent);
  return { window: base + (base / 8) * mantissa, blocksAt: sizeAt + sizeBytes };
}

/** Where the blocks of a frame end. @throws Error when the bytes are not one frame, whose window is small enough */
function blockEnds(bytes: Buffer): readonly number[] {
  const { window, blocksAt } = frameHeader(bytes);
  if (window > LARGEST_WINDOW) {
    throw new Error(
      `its zstd window is ${window} bytes, and ${LARGEST_WINDOW} is the most before Node.js 22.15, as levels up to 19 take`,
    );
  }
  const ends: number[] = [];
  let at = blocksAt;
  for (let isLast = false; !isLast; ) {
    const head = bytes.readUIntLE(at, 3);
    isLast = (head & 1) === 1;
    at += 3 + (((head >> 1) & 3) === RUN_BLOCK ? 1 : head >> 3);
    ends.push(at);
  }
  at += (bytes.readUInt8(FRAME.descriptor) & FRAME.checksum) === 0 ? 0 : 4;
  if (at !== bytes.length) {
    throw new Error(`the zstd frame ends at ${at} of ${bytes.length} bytes`);
  }
  return [...ends.slice(0, -1), at];
}

/** Blocks, of 128 KiB at most, that are unpacked in one turn of the event loop. */
const BLOCKS_PER_TURN = 16;

/** Unpacks the blocks of a frame one by one. Other work has its turn in between. */
async function unpackBlocks(bytes: Buffer, ends: readonly number[], take: (piece: Uint8Array) => void): Promise<void> {
  const decoder = new Decompress(take);
  let at = 0;
  for (const [index, end] of ends.entries()) {
    decoder.push(bytes.subarray(at, end), end === bytes.length);
    at = end;
    if (index % BLOCKS_PER_TURN === BLOCKS_PER_TURN - 1) {
      await nextTurn();
    }
  }
}

/** Zstd by fzstd, which reads the window's size out of the frame and compares no checksum: Kafka's own is enough. */
export const unpackZstdByFzstd: Unpack = async (bytes, limit) => {
  const ends = blockEnds(bytes);
  const size = new UnpackedSize(limit);
  const pieces: Uint8Array[] = [];
  await unpackBlocks(bytes, ends, (piece) => {
    size.add(piece.length);
    if (size.bytes > COLLECTED_BYTES) {
      pieces.length = 0;
    } else {
      pieces.push(piece);
    }
  });
  if (size.bytes <= COLLECTED_BYTES) {
    return Buffer.concat(pieces);
  }
  const content = Buffer.allocUnsafeSlow(size.bytes);
  let at = 0;
  await unpackBlocks(bytes, ends, (piece) => {
    content.set(piece, at);
    at += piece.length;
  });
  return content;
};

const UNPACK: Readonly<Record<number, Unpack>> = {
  1: unpackGzip,
  2: async (bytes, limit) => unpackSnappy(bytes, limit),
  3: async (bytes, limit) => unpackLz4(bytes, limit),
  4: unpackZstdByNode ?? unpackZstdByFzstd,
};

/** Bytes that a batch may become. The process has one kafkajs, and so one bound. */
let mostBytes = 64 * 1_048_576;

/** Sets the bound of what batches may become (`consumer.maxUnpackedBytes`). @default 64 MiB until the first call */
export function unpackAtMost(bytes: number): void {
  mostBytes = bytes;
}

/**
 * Unpacks what the codec of these attributes has packed, up to the bound; `null` where they name none.
 *
 * @throws UnknownCodecError when Kafka had no such codec when this program was made
 */
export function codecFor(attributes: number): ((bytes: Buffer) => Promise<Buffer>) | null {
  const number = attributes & CODEC_MASK;
  if (number === 0) {
    return null;
  }
  const unpack = UNPACK[number];
  if (unpack === undefined) {
    throw new UnknownCodecError(number);
  }
  return (bytes) => unpack(bytes, mostBytes);
}
