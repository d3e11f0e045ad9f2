import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { unpackLz4 } from '../../../../app/kafka/codecs/lz4-frame.ts';
import { IS_LONG_RUN } from '../../../integration/stack/long-test.ts';
import { type FrameOptions, lz4Frame } from './lz4-frames.ts';

const LIMIT = 1_048_576;

/** Content that packs well, badly, or in parts, over several blocks or within one. */
const content = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 6_000 })), { maxLength: 4 })
  .map((parts) => Buffer.concat(parts.flatMap(([bytes, times]) => Array<Buffer>(times).fill(Buffer.from(bytes)))));

const options: fc.Arbitrary<FrameOptions> = fc.record({
  isLinked: fc.boolean(),
  blockChecksums: fc.boolean(),
  contentSize: fc.boolean(),
  contentChecksum: fc.boolean(),
  isStored: fc.boolean(),
  isOld: fc.boolean(),
});

/** What the bytes become; `undefined`: they are refused. */
function unpacked(bytes: Buffer, limit = LIMIT): Buffer | undefined {
  try {
    return unpackLz4(bytes, limit);
  } catch {
    return undefined;
  }
}

test('whatever a frame has, it becomes what was packed', () => {
  fc.assert(
    fc.property(content, options, (bytes, how) => {
      expect(unpackLz4(lz4Frame(bytes, how), LIMIT).equals(bytes)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('a frame whose blocks and content have checksums becomes what was packed or is refused, whichever bit is flipped', () => {
  fc.assert(
    fc.property(content, options, fc.nat(), fc.nat(7), (bytes, how, place, bit) => {
      const frame = lz4Frame(bytes, { ...how, blockChecksums: true, contentChecksum: true });
      const at = place % frame.length;
      frame.writeUInt8(frame.readUInt8(at) ^ (1 << bit), at);
      const result = unpacked(frame);
      expect(result === undefined || result.equals(bytes)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['block', { blockChecksums: true }],
  ['content', { contentChecksum: true }],
])('a flipped bit of the %s is told by its checksum', (what, how) => {
  const frame = lz4Frame(Buffer.from('content that is stored'), how);
  const at = frame.indexOf('content');
  frame.writeUInt8(frame.readUInt8(at) ^ 1, at);
  expect(() => unpackLz4(frame, LIMIT)).toThrow(new RegExp(`lz4 ${what} has the xxHash`));
});

test('a frame that ends anywhere else, or is followed by anything, is refused', () => {
  fc.assert(
    fc.property(content, options, fc.nat(), (bytes, how, place) => {
      const frame = lz4Frame(bytes, how);
      expect(unpacked(frame.subarray(0, place % frame.length))).toBeUndefined();
      expect(unpacked(Buffer.concat([frame, Buffer.alloc(1 + (place % 8))]))).toBeUndefined();
    }),
  );
});

describe('a block of any bytes', () => {
  const HEAD = lz4Frame(Buffer.alloc(0)).subarray(0, 7);

  const inFrame = (block: Uint8Array): Buffer => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(block.length);
    return Buffer.concat([HEAD, size, block, Buffer.alloc(4)]);
  };

  /** The bytes of a block, one after the other. @throws Error behind the last one */
  class Reader {
    readonly #rest: number[];

    constructor(block: Uint8Array) {
      this.#rest = [...block];
    }

    get isAtEnd(): boolean {
      return this.#rest.length === 0;
    }

    next(): number {
      const [byte] = this.take(1);
      return byte ?? 0;
    }

    take(count: number): readonly number[] {
      if (count > this.#rest.length) {
        throw new Error('the block ends here');
      }
      return this.#rest.splice(0, count);
    }

    length(first: number): number {
      let total = first;
      for (let byte = first === 15 ? 255 : 0; byte === 255; total += byte) {
        byte = this.next();
      }
      return total;
    }
  }

  /** The block format, read byte by byte. @throws Error for what is no block */
  function contentOf(block: Uint8Array): Buffer {
    const out: number[] = [];
    const reader = new Reader(block);
    for (;;) {
      const token = reader.next();
      out.push(...reader.take(reader.length(token >> 4)));
      if (reader.isAtEnd) {
        return Buffer.from(out);
      }
      const offset = reader.next() + reader.next() * 256;
      const matched = 4 + reader.length(token & 15);
      if (offset === 0 || offset > out.length) {
        throw new Error('the match begins in front of the content');
      }
      for (let left = matched; left > 0; left -= 1) {
        out.push(out[out.length - offset] ?? 0);
      }
    }
  }

  function expected(block: Uint8Array): Buffer | undefined {
    try {
      return contentOf(block);
    } catch {
      return undefined;
    }
  }

  test('becomes what the format says of them, or is refused', () => {
    const small = fc.uint8Array({ minLength: 1, maxLength: 24, max: 40 });
    fc.assert(
      fc.property(fc.oneof(small, fc.uint8Array({ minLength: 1, maxLength: 60 })), (block) => {
        expect(unpacked(inFrame(block))).toEqual(expected(block));
      }),
      { numRuns: IS_LONG_RUN ? 5_000 : 1_000 },
    );
  });
});

test.each([
  ['one of another version', (frame: Buffer) => frame.writeUInt8(0x20, 4)],
  ['one with a dictionary', (frame: Buffer) => frame.writeUInt8(0x61, 4)],
  ['another magic number', (frame: Buffer) => frame.writeUInt8(0x05, 0)],
  ['another checksum of the header', (frame: Buffer) => frame.writeUInt8(frame.readUInt8(6) ^ 1, 6)],
])('a frame with %s is refused', (_, change) => {
  const frame = lz4Frame(Buffer.from('content'));
  change(frame);
  expect(() => unpackLz4(frame, LIMIT)).toThrow(/lz4/);
});

test('the bound is that of the bytes that come out, with and without a size in the header', () => {
  const bytes = Buffer.alloc(300_000, 'abc');
  for (const contentSize of [true, false]) {
    const frame = lz4Frame(bytes, { contentSize });
    expect(unpackLz4(frame, bytes.length).equals(bytes)).toBe(true);
    expect(() => unpackLz4(frame, bytes.length - 1)).toThrow(/more than 299999 bytes/);
  }
});
