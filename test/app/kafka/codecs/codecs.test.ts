import { createRequire } from 'node:module';
import * as zlib from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  codecFor,
  codecOf,
  type Unpack,
  unpackGzip,
  unpackZstdByFzstd,
  unpackZstdByNode,
} from '../../../../app/kafka/codecs/codecs.ts';
import { unpackLz4 } from '../../../../app/kafka/codecs/lz4-frame.ts';
import { unpackSnappy } from '../../../../app/kafka/codecs/snappy.ts';
import { lz4Frame } from './lz4-frames.ts';
import { ZSTD_CONTENT, zstdFrame } from './zstd-frames.ts';

const require = createRequire(import.meta.url);
const { compress: snappyBlock } = require('snappyjs') as { compress(bytes: Buffer): Buffer };

const LIMIT = 1_048_576;

/** Java's framing: 16 bytes in front, each block behind its size. */
function framed(blocks: readonly Buffer[]): Buffer {
  const sized = blocks.flatMap((block) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(block.length);
    return [size, block];
  });
  return Buffer.concat([Buffer.from('82534e4150505900', 'hex'), Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]), ...sized]);
}

const javaSnappy = (bytes: Buffer): Buffer =>
  framed([snappyBlock(bytes.subarray(0, 32_768)), snappyBlock(bytes.subarray(32_768))]);

const snappy: Unpack = async (bytes, limit) => unpackSnappy(bytes, limit);
const lz4: Unpack = async (bytes, limit) => unpackLz4(bytes, limit);

const CODECS: readonly (readonly [string, (bytes: Buffer) => Buffer, Unpack])[] = [
  ['gzip', (bytes) => zlib.gzipSync(bytes), unpackGzip],
  ['snappy as a block', snappyBlock, snappy],
  ["snappy in Java's framing", javaSnappy, snappy],
  ['lz4', (bytes) => lz4Frame(bytes), lz4],
];

const ZSTD: readonly (readonly [string, Unpack])[] = [
  ['fzstd', unpackZstdByFzstd],
  ...(unpackZstdByNode ? [['Node', unpackZstdByNode] as const] : []),
];

describe.each(CODECS)('%s', (_, pack, unpack) => {
  test('becomes what was packed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 2_000, size: 'max' }),
        fc.integer({ min: 1, max: 60 }),
        async (part, times) => {
          const bytes = Buffer.concat(Array<Buffer>(times).fill(Buffer.from(part)));
          expect((await unpack(pack(bytes), LIMIT)).equals(bytes)).toBe(true);
        },
      ),
    );
  });

  test('up to the bound, and no further, however large it is', async () => {
    for (const size of [100_000, 9_000_000]) {
      const bytes = Buffer.alloc(size, 'abcdefgh');
      expect((await unpack(pack(bytes), size)).equals(bytes)).toBe(true);
      await expect(unpack(pack(bytes), size - 1)).rejects.toThrow(`unpacks to more than ${size - 1} bytes`);
    }
  });

  test('that ends too early is refused', async () => {
    const packed = pack(Buffer.alloc(100_000, 'abcdefgh'));
    await expect(unpack(packed.subarray(0, packed.length - 9), LIMIT)).rejects.toThrow();
  });
});

describe.each(ZSTD)('zstd by %s', (_, unpack) => {
  test.each(Object.keys(ZSTD_CONTENT) as (keyof typeof ZSTD_CONTENT)[])('becomes what was packed: %s', async (name) => {
    const bytes = ZSTD_CONTENT[name]();
    expect((await unpack(zstdFrame(name), bytes.length)).equals(bytes)).toBe(true);
    await expect(unpack(zstdFrame(name), bytes.length - 1)).rejects.toThrow(`more than ${bytes.length - 1} bytes`);
  });

  test('that ends too early, or is something else, is refused', async () => {
    const packed = zstdFrame('java');
    await expect(unpack(packed.subarray(0, packed.length - 9), LIMIT)).rejects.toThrow();
    await expect(unpack(Buffer.from('no frame of zstd'), LIMIT)).rejects.toThrow();
  });
});

test('fzstd takes no memory for a window that a header tells', async () => {
  const frame = Buffer.from(zstdFrame('java'));
  frame.writeUInt8(21 << 3, 5);
  await expect(unpackZstdByFzstd(frame, LIMIT)).rejects.toThrow('window is 2147483648 bytes');
});

test.each([
  ['tells less than it has', [2, 0x08, 1, 2, 3]],
  ['tells more than it has', [9, 0x08, 1, 2, 3]],
  ['copies from in front of it', [8, 0x00, 1, 0x01, 5]],
  ['has a literal that is longer than it', [60, 0xec, 1, 2]],
  ['copies nothing', [5, 0x00, 1, 0x01, 0]],
])('a snappy block that %s is refused', (_, bytes) => {
  expect(() => unpackSnappy(Buffer.from(bytes), LIMIT)).toThrow(/snappy|range/);
});

test('an attribute tells its codec', () => {
  expect([0, 1, 2, 3, 4, 5, 0x10 | 3].map(codecOf)).toEqual(['none', 'gzip', 'snappy', 'lz4', 'zstd', '5', 'lz4']);
});

test('attributes without a codec unpack nothing, and a codec that Kafka does not know is refused', async () => {
  expect(codecFor(0x10)).toBeNull();
  expect(String(await codecFor(1)?.(zlib.gzipSync('x')))).toBe('x');
  expect(() => codecFor(5)).toThrow('its codec is 5, and 1 to 4 are known');
});
