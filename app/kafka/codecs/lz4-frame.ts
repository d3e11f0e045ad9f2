import { decompressBlock } from 'lz4js';
import { hash } from 'lz4js/xxh32.js';
import { UnpackedSize } from './unpacked-size.ts';

const MAGIC = 0x184d2204;
const MAGIC_BYTES = 4;

/** Flags of a frame. The two uppermost bits are its version, 01; the lowest but one is reserved, and so 0. */
const FLAG = { dictionary: 0x01, contentChecksum: 0x04, contentSize: 0x08, blockChecksum: 0x10, independent: 0x20 };
const VERSION_MASK = 0xc2;
const FRAME_VERSION = 0x40;

/** The uppermost bit of a block's size: it was stored as it is. */
const STORED = 0x80000000;

/** Bytes that a block of each size class may have at most; 0 to 3 are none. */
const BLOCK_BYTES: Readonly<Record<number, number>> = { 4: 0x10000, 5: 0x40000, 6: 0x100000, 7: 0x400000 };

/** Bytes that every match has. */
const LEAST_MATCH = 4;
/** A length of a token that goes on in the bytes behind it. */
const LONG = 15;

/** A block of a frame. */
interface Block {
  /** Where its bytes begin. */
  readonly start: number;
  readonly end: number;
  readonly isStored: boolean;
}

interface Frame {
  readonly flags: number;
  readonly blockBytes: number;
  /** The size of the content by the header; null: it has none. */
  readonly contentSize: bigint | null;
  /** Where the first block is. */
  readonly blocksAt: number;
}

const has = ({ flags }: Pick<Frame, 'flags'>, flag: number): boolean => (flags & flag) !== 0;

function requireHash(bytes: Buffer, start: number, end: number, storedAt: number, of: string): void {
  const [computed, stored] = [hash(0, bytes, start, end - start), bytes.readUInt32LE(storedAt)];
  if (computed !== stored) {
    throw new Error(
      `the lz4 ${of} has the xxHash ${computed.toString(16)}, and ${stored.toString(16)} is stored with it`,
    );
  }
}

/** Old producers of Kafka hashed the magic number, too (KAFKA-3160). */
function requireHeaderHash(bytes: Buffer, end: number): void {
  const hashes = [MAGIC_BYTES, 0].map((start) => (hash(0, bytes, start, end - start) >>> 8) & 0xff);
  if (!hashes.includes(bytes.readUInt8(end))) {
    throw new Error('the lz4 header has another checksum than the one that is stored with it');
  }
}

function readHeader(bytes: Buffer): Frame {
  const magic = bytes.readUInt32LE(0);
  if (magic !== MAGIC) {
    throw new Error(`it begins with ${magic.toString(16)}, and an lz4 frame with ${MAGIC.toString(16)}`);
  }
  const flags = bytes.readUInt8(MAGIC_BYTES);
  const descriptor = bytes.readUInt8(MAGIC_BYTES + 1);
  const blockBytes = BLOCK_BYTES[descriptor >> 4];
  if ((flags & VERSION_MASK) !== FRAME_VERSION || has({ flags }, FLAG.dictionary) || descriptor & 0xf || !blockBytes) {
    const given = [flags, descriptor].map((byte) => byte.toString(16)).join(' ');
    throw new Error(
      `the lz4 header ${given} is none of version 1 without a dictionary, with blocks of 64 KiB to 4 MiB`,
    );
  }
  const sizeAt = MAGIC_BYTES + 2;
  const contentSize = has({ flags }, FLAG.contentSize) ? bytes.readBigUInt64LE(sizeAt) : null;
  const hashAt = sizeAt + (contentSize === null ? 0 : 8);
  requireHeaderHash(bytes, hashAt);
  return { flags, blockBytes, contentSize, blocksAt: hashAt + 1 };
}

/** The blocks of a frame, up to the end of the bytes: nothing may follow it. */
function readBlocks(bytes: Buffer, frame: Frame): { readonly blocks: readonly Block[]; readonly end: number } {
  const blocks: Block[] = [];
  let at = frame.blocksAt;
  for (let size = bytes.readUInt32LE(at); size !== 0; size = bytes.readUInt32LE(at)) {
    const start = at + 4;
    const end = start + (size & ~STORED);
    if (end > bytes.length) {
      throw new Error(`an lz4 block of ${end - start} bytes begins at ${start} of ${bytes.length}`);
    }
    at = end;
    if (has(frame, FLAG.blockChecksum)) {
      requireHash(bytes, start, end, at, 'block');
      at += 4;
    }
    blocks.push({ start, end, isStored: size >= STORED });
  }
  const end = at + 4;
  const whole = end + (has(frame, FLAG.contentChecksum) ? 4 : 0);
  if (whole !== bytes.length) {
    throw new Error(`the lz4 frame ends at ${whole} of ${bytes.length} bytes`);
  }
  return { blocks, end };
}

/**
 * The bytes that a packed block becomes, without unpacking it: its sequences are literals and matches of so many bytes.
 *
 * @param reach bytes in front of what it becomes that a match may go back to
 * @throws Error when a sequence leaves the block, or a match begins in front of the content
 */
function blockSize(bytes: Buffer, { start, end }: Block, reach: number): number {
  let at = start;
  let produced = 0;
  const longLength = (first: number): number => {
    let length = first;
    for (let byte = first === LONG ? 255 : 0; byte === 255; at += 1) {
      byte = at < end ? (bytes[at] ?? 0) : 0;
      length += byte;
    }
    return length;
  };
  while (at < end) {
    const token = bytes[at] ?? 0;
    at += 1;
    const literals = longLength(token >> 4);
    at += literals;
    produced += literals;
    if (at === end) {
      return produced;
    }
    const offset = at + 2 < end ? bytes.readUInt16LE(at) : 0;
    if (offset === 0 || offset > reach + produced) {
      throw new Error(`an lz4 match goes back by ${offset} from ${reach + produced}, or leaves its block`);
    }
    at += 2;
    produced += LEAST_MATCH + longLength(token & 0xf);
  }
  throw new Error('an lz4 block does not end with literals');
}

/** The bytes that the blocks become, each and together, as they are and not as the header says. */
function contentSize(bytes: Buffer, frame: Frame, blocks: readonly Block[], limit: number): number {
  const size = new UnpackedSize(limit);
  for (const block of blocks) {
    const reach = has(frame, FLAG.independent) ? 0 : size.bytes;
    const unpacked = block.isStored ? block.end - block.start : blockSize(bytes, block, reach);
    if (unpacked > frame.blockBytes) {
      throw new Error(`an lz4 block becomes ${unpacked} bytes in a frame of blocks of ${frame.blockBytes}`);
    }
    size.add(unpacked);
  }
  if (frame.contentSize !== null && frame.contentSize !== BigInt(size.bytes)) {
    throw new Error(`the lz4 frame announces ${frame.contentSize} bytes of content, and has ${size.bytes}`);
  }
  return size.bytes;
}

/**
 * The content of one lz4 frame (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md): linked or independent
 * blocks, packed or stored, whose checksums are compared where there are any. Memory is taken for the content that the
 * blocks have, once that is known.
 *
 * @param limit bytes that the content may have
 * @throws OversizedError when it has more
 * @throws Error when the bytes are no such frame, or not one alone
 */
export function unpackLz4(bytes: Buffer, limit: number): Buffer {
  const frame = readHeader(bytes);
  const { blocks, end } = readBlocks(bytes, frame);
  const content = Buffer.allocUnsafeSlow(contentSize(bytes, frame, blocks, limit));
  let at = 0;
  for (const { start, end, isStored } of blocks) {
    at = isStored ? at + bytes.copy(content, at, start, end) : decompressBlock(bytes, content, start, end - start, at);
  }
  if (has(frame, FLAG.contentChecksum)) {
    requireContentHash(content, bytes.readUInt32LE(end));
  }
  return content;
}

function requireContentHash(content: Buffer, stored: number): void {
  const computed = hash(0, content, 0, content.length);
  if (computed !== stored) {
    throw new Error(`the lz4 content has the xxHash ${computed.toString(16)}, and ${stored.toString(16)} is stored`);
  }
}
