import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { compressBlock } = require('lz4js') as {
  /** @returns bytes written; 0: they would not be fewer. The table keeps what was seen for the next block. */
  compressBlock(source: Uint8Array, target: Uint8Array, start: number, size: number, seen: Uint32Array): number;
};
const { hash } = require('lz4js/xxh32.js') as {
  hash(seed: number, bytes: Uint8Array, start: number, size: number): number;
};

/** How a frame is written; each is off when left out. */
export interface FrameOptions {
  readonly isLinked?: boolean;
  readonly blockChecksums?: boolean;
  readonly contentSize?: boolean;
  readonly contentChecksum?: boolean;
  /** Blocks are stored as they are. */
  readonly isStored?: boolean;
  /** As producers before 0.10 wrote it: the header's checksum is of the magic number, too. */
  readonly isOld?: boolean;
}

const BLOCK_BYTES = 65_536;
const STORED = 0x80000000;

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};

const hashOf = (bytes: Uint8Array): Buffer => uint32(hash(0, bytes, 0, bytes.length));

function header({ isOld, ...options }: FrameOptions, bytes: number): Buffer {
  const on = [
    options.contentChecksum && 0x04,
    options.contentSize && 0x08,
    options.blockChecksums && 0x10,
    !options.isLinked && 0x20,
  ];
  const flags = on.reduce<number>((all, flag) => all | (flag || 0), 0x40);
  const size = Buffer.alloc(options.contentSize ? 8 : 0);
  if (options.contentSize) {
    size.writeBigUInt64LE(BigInt(bytes));
  }
  const magic = uint32(0x184d2204);
  const descriptor = Buffer.concat([Buffer.from([flags, 0x40]), size]);
  const hashed = isOld ? Buffer.concat([magic, descriptor]) : descriptor;
  return Buffer.concat([magic, descriptor, Buffer.from([hashOf(hashed).readUInt8(1)])]);
}

/** Packs a part of the bytes, or gives it as it is where that is not smaller. */
function packBlock(bytes: Buffer, at: number, isLinked: boolean, seen: Uint32Array): Buffer {
  const part = bytes.subarray(at, at + BLOCK_BYTES);
  const packed = Buffer.alloc(part.length + 1_024);
  const length = isLinked
    ? compressBlock(bytes, packed, at, part.length, seen)
    : compressBlock(part, packed, 0, part.length, seen.fill(0));
  return length > 0 && length < part.length ? packed.subarray(0, length) : part;
}

/** Bytes as an lz4 frame with blocks of 64 KiB. */
export function lz4Frame(bytes: Buffer, options: FrameOptions = {}): Buffer {
  const { isLinked = false, isStored = false, blockChecksums = false, contentChecksum = false } = options;
  const parts = [header(options, bytes.length)];
  const seen = new Uint32Array(65_536);
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
    const part = bytes.subarray(at, at + BLOCK_BYTES);
    const block = isStored ? part : packBlock(bytes, at, isLinked, seen);
    parts.push(uint32(block.length + (block.length < part.length ? 0 : STORED)), block);
    parts.push(blockChecksums ? hashOf(block) : Buffer.alloc(0));
  }
  return Buffer.concat([...parts, uint32(0), contentChecksum ? hashOf(bytes) : Buffer.alloc(0)]);
}
