import { MemoryPool } from '../memory-pool.ts';

/** Where the memory of rows comes from. */
export interface Memory {
  /** @returns so many bytes or more, with anything in them */
  take(size: number): Buffer;
}

/** Memory that nobody gives back. */
export const NEW_MEMORY: Memory = { take: (size) => Buffer.allocUnsafeSlow(size) };

/** Memory that lies ready: that of two transactions of the usual size. */
const MOST_BYTES = 8 * 1_048_576;

/** Memory of rows that is used again. */
export class RowMemory {
  readonly #pool = new MemoryPool(MOST_BYTES);

  /**
   * Does work whose rows are in this memory. What it took is used again where the work ends well: by then PostgreSQL has
   * answered, so all rows are sent. Where it fails, rows may still be on their way, and others in their place would be sent
   * with them: their memory is never used again.
   */
  async during<T>(work: (memory: Memory) => Promise<T>): Promise<T> {
    const taken: Buffer[] = [];
    const take = (size: number): Buffer => {
      const piece = this.#pool.take(size);
      taken.push(piece);
      return piece;
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
