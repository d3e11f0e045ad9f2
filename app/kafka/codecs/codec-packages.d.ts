/** The parts that are used of packages that come without types. */

declare module 'lz4js' {
  /**
   * Unpacks one block and checks nothing: whatever it holds, bytes are read and written wherever it says.
   *
   * @returns the place in `target` behind what was written
   */
  export function decompressBlock(
    source: Uint8Array,
    target: Uint8Array,
    start: number,
    size: number,
    at: number,
  ): number;
}

declare module 'lz4js/xxh32.js' {
  /** xxHash-32 of a range of bytes, unsigned. */
  export function hash(seed: number, bytes: Uint8Array, start: number, size: number): number;
}

declare module 'snappyjs/snappy_decompressor.js' {
  /** Unpacks one block. What does not fit into the target is dropped without a word. */
  export class SnappyDecompressor {
    constructor(block: Uint8Array);
    /** Reads the size in front; -1 when there is none. */
    readUncompressedLength(): number;
    /** @returns false when the block is not whole */
    uncompressToBuffer(target: Uint8Array): boolean;
  }
}
