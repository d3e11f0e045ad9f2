import { SnappyDecompressor } from 'snappyjs/snappy_decompressor.js';
import { UnpackedSize } from './unpacked-size.ts';

/** Java's producers write blocks behind their sizes, and in front of them this and two versions (xerial's framing). */
const FRAMING = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0]);
const FRAMING_BYTES = 16;

/** The two lowest bits of a tag; 3 is a copy with an offset of four bytes. */
const KIND = { literal: 0, shortCopy: 1, copy: 2 };
/** A literal's size, less 1, that is in the tag; above it, so many bytes behind the tag hold it. */
const LONGEST_IN_TAG = 59;

/** What a tag at some place means. */
interface Element {
  /** Bytes that it becomes. */
  readonly produced: number;
  /** Where the next tag is. */
  readonly next: number;
}

function literalAt(block: Buffer, at: number, tag: number): Element {
  const inTag = tag >> 2;
  const sizeBytes = Math.max(0, inTag - LONGEST_IN_TAG);
  const produced = 1 + (sizeBytes === 0 ? inTag : block.readUIntLE(at + 1, sizeBytes));
  return { produced, next: at + 1 + sizeBytes + produced };
}

/** @param reach bytes that were produced before it, which it copies some of */
function copyAt(block: Buffer, at: number, tag: number, reach: number): Element {
  const isShort = (tag & 3) === KIND.shortCopy;
  const offsetBytes = isShort ? 1 : (tag & 3) === KIND.copy ? 2 : 4;
  const offset = block.readUIntLE(at + 1, offsetBytes) + (isShort ? (tag >> 5) << 8 : 0);
  if (offset === 0 || offset > reach) {
    throw new Error(`a snappy copy goes back by ${offset} from ${reach}`);
  }
  return { produced: isShort ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2), next: at + 1 + offsetBytes };
}

/**
 * Adds the bytes that a block becomes, without unpacking it.
 *
 * @throws Error when they are not as many as it says, or it is not whole
 */
function addBlock(block: Buffer, size: UnpackedSize): void {
  const announced = new SnappyDecompressor(block).readUncompressedLength();
  let at = block.findIndex((byte) => byte < 0x80) + 1;
  let produced = 0;
  while (at < block.length) {
    const tag = block.readUInt8(at);
    const element = (tag & 3) === KIND.literal ? literalAt(block, at, tag) : copyAt(block, at, tag, produced);
    produced += element.produced;
    size.add(element.produced);
    at = element.next;
  }
  if (at !== block.length || produced !== announced >>> 0) {
    throw new Error(
      `a snappy block of ${block.length} bytes announces ${announced >>> 0} bytes of content, and has ${produced}`,
    );
  }
}

function blocksOf(bytes: Buffer): readonly Buffer[] {
  if (!bytes.subarray(0, FRAMING.length).equals(FRAMING)) {
    return [bytes];
  }
  const blocks: Buffer[] = [];
  for (let at = FRAMING_BYTES; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) {
      throw new Error(`a snappy block ends at ${end} of ${bytes.length} bytes`);
    }
    blocks.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/**
 * The content of a snappy block, as librdkafka writes it, or of blocks in Java's framing. Memory is taken for the
 * content that the blocks have, once that is known.
 *
 * @param limit bytes that the content may have
 * @throws OversizedError when it has more
 * @throws Error when the bytes are no such blocks
 */
export function unpackSnappy(bytes: Buffer, limit: number): Buffer {
  const blocks = blocksOf(bytes);
  const size = new UnpackedSize(limit);
  const ends = blocks.map((block) => {
    addBlock(block, size);
    return size.bytes;
  });
  const content = Buffer.allocUnsafeSlow(size.bytes);
  for (const [index, block] of blocks.entries()) {
    const decompressor = new SnappyDecompressor(block);
    decompressor.readUncompressedLength();
    if (!decompressor.uncompressToBuffer(content.subarray(ends[index - 1] ?? 0, ends[index]))) {
      throw new Error(`a snappy block of ${block.length} bytes is not whole`);
    }
  }
  return content;
}
