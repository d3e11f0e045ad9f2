import { MemoryPool } from '../../memory/memory-pool.ts';

/** Where the memory of rows comes from. */
export interface Memory {
  /** @returns so many bytes or more, with anything in them */
  take(size: number): Buffer;
}

/** Memory that nobody gives back. */
export const NEW_MEMORY: Memory = { take: (size) => Buffer.allocUnsafeSlow(size) };

/** Memory that lies ready: that of two transactions of the usual size. */
const MOST_KEPT_ROW_BYTES = 8 * 1_048_576;

/** What is no larger comes out of pieces of 64 KiB: a transaction may have rows of hundreds of small batches. */
const SMALL_BYTES = 8_192;
const SHARED_BYTES = 65_536;

/** Memory of rows that is used again. */
export class RowMemory {
  readonly #pool = new MemoryPool(MOST_KEPT_ROW_BYTES);

  /**
   * Does work whose rows are in this memory. When the work ends well, what it took is used again: PostgreSQL has
   * answered, so all rows are sent. When the work fails, rows may still be on their way, and other rows in their place
   * would be sent with them. So their memory is never used again.
   */
  async during<T>(work: (memory: Memory) => Promise<T>): Promise<T> {
    const taken: Buffer[] = [];
    const takePiece = (size: number): Buffer => {
      const piece = this.#pool.take(size);
      taken.push(piece);
      return piece;
    };
    let shared: Buffer = Buffer.alloc(0);
    const take = (size: number): Buffer => {
      if (size > SMALL_BYTES) {
        return takePiece(size);
      }
      shared = size > shared.length ? takePiece(SHARED_BYTES) : shared;
      const part = shared.subarray(0, size);
      shared = shared.subarray(size);
      return part;
    };
    const result = await work({ take });
    for (const piece of taken) {
      this.#pool.giveBack(piece);
    }
    return result;
  }
}

/** That of the process. */
export const rowMemory = new RowMemory();

/** Pieces of fewer bytes are copied together: what sending a piece costs is more than that. */
const LEAST_PIECE_BYTES = 16_384;

/** The same bytes, the small pieces next to each other in one. */
export function inFewPieces(pieces: readonly Buffer[], memory: Memory): readonly Buffer[] {
  const few: Buffer[] = [];
  let small: Buffer[] = [];
  for (const piece of pieces) {
    if (piece.length < LEAST_PIECE_BYTES) {
      small.push(piece);
    } else {
      few.push(...(small.length > 0 ? [concatenated(small, memory)] : []), piece);
      small = [];
    }
  }
  return small.length > 0 ? [...few, concatenated(small, memory)] : few;
}

function concatenated(pieces: readonly Buffer[], memory: Memory): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const all = memory.take(length).subarray(0, length);
  let at = 0;
  for (const piece of pieces) {
    at += piece.copy(all, at);
  }
  return all;
}
