/** Where the memory of rows comes from. */
export interface Memory {
  /** @returns so many bytes or more, with anything in them */
  take(size: number): Buffer;
}

/** Memory that nobody gives back. */
export const NEW_MEMORY: Memory = { take: (size) => Buffer.allocUnsafeSlow(size) };

const KIBIBYTE = 1_024;

/** What is smaller is cheap to come by. */
const LEAST_BYTES = 64 * KIBIBYTE;

/** Sizes are multiples of it, so that the memory of one transaction fits another one. */
const STEP_BYTES = 256 * KIBIBYTE;

/** Memory that lies ready: that of two transactions of the usual size. */
const MOST_BYTES = 8 * 1_024 * KIBIBYTE;

/** After this time without a transaction what lies ready is given up. */
const IDLE_MS = 2_000;

/**
 * Memory of rows that is used again. A new piece for each transaction costs its page faults, and V8 collects all garbage
 * each time that 64 MiB were taken, however little of it is in use.
 */
export class RowMemory {
  readonly #ready: Buffer[] = [];
  #readyBytes = 0;
  #lent = 0;
  #idle: NodeJS.Timeout | null = null;

  /**
   * Does work whose rows are in this memory. What it took is used again where the work ends well: by then PostgreSQL has
   * answered, so all rows are sent. Where it fails, rows may still be on their way, and others in their place would be sent
   * with them: their memory is never used again.
   */
  async during<T>(work: (memory: Memory) => Promise<T>): Promise<T> {
    const taken: Buffer[] = [];
    this.#begin();
    try {
      const result = await work({ take: (size) => this.#take(size, taken) });
      for (const piece of taken) {
        this.#keep(piece);
      }
      return result;
    } finally {
      this.#end();
    }
  }

  #take(size: number, taken: Buffer[]): Buffer {
    if (size < LEAST_BYTES) {
      return Buffer.allocUnsafeSlow(size);
    }
    const place = this.#ready.findIndex(({ length }) => length >= size);
    const [ready] = place < 0 ? [] : this.#ready.splice(place, 1);
    this.#readyBytes -= ready?.length ?? 0;
    const piece = ready ?? Buffer.allocUnsafeSlow(Math.ceil(size / STEP_BYTES) * STEP_BYTES);
    taken.push(piece);
    return piece;
  }

  #keep(piece: Buffer): void {
    if (this.#readyBytes + piece.length <= MOST_BYTES) {
      this.#ready.push(piece);
      this.#readyBytes += piece.length;
    }
  }

  #begin(): void {
    clearTimeout(this.#idle ?? undefined);
    this.#lent += 1;
  }

  #end(): void {
    this.#lent -= 1;
    if (this.#lent === 0) {
      this.#idle = setTimeout(() => {
        this.#ready.length = 0;
        this.#readyBytes = 0;
      }, IDLE_MS).unref();
    }
  }
}

/** That of the process. */
export const rowMemory = new RowMemory();
