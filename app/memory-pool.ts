const KIBIBYTE = 1_024;

/** What is smaller is cheap to come by. */
const LEAST_BYTES = 8 * KIBIBYTE;

/** Sizes are powers of 2 up to here, and multiples of it beyond, so that what one took fits another one. */
const STEP_BYTES = 256 * KIBIBYTE;

/** A piece has no more than so many times the bytes that are asked for. */
const MOST_TIMES = 2;

/** What nobody has asked for in this time is given up. */
const IDLE_MS = 2_000;

/**
 * Memory that is used again. New memory costs its page faults, and V8 collects all garbage each time that 64 MiB were
 * taken outside of its heap, however little of it is in use.
 *
 * What is taken and not given back is garbage when nobody has it any more. So whoever cannot know whether others still
 * read a piece keeps it from being used again by doing nothing.
 */
export class MemoryPool {
  readonly #mostBytes: number;
  /** The smallest first. */
  #ready: Buffer[] = [];
  #readyBytes = 0;
  readonly #taken = new WeakSet<ArrayBufferLike>();
  #idle: NodeJS.Timeout | null = null;

  /** @param mostBytes that lie ready */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** @returns so many bytes or more, at most twice as many, with anything in them */
  take(size: number): Buffer {
    if (size < LEAST_BYTES) {
      return Buffer.allocUnsafe(size);
    }
    const place = this.#placeOf(size);
    const fits = (this.#ready[place]?.length ?? Number.POSITIVE_INFINITY) <= MOST_TIMES * size;
    const [ready] = fits ? this.#ready.splice(place, 1) : [];
    this.#readyBytes -= ready?.length ?? 0;
    const piece = ready ?? Buffer.allocUnsafeSlow(roundedUp(size));
    this.#taken.add(piece.buffer);
    return piece;
  }

  /**
   * Nobody reads or writes the piece any more. What is no piece of this pool, is too large for it, or was given back
   * before is left alone.
   *
   * @param piece what was taken, or any part of it
   */
  giveBack({ buffer }: Buffer): void {
    if (!this.#taken.delete(buffer) || buffer.byteLength > this.#mostBytes) {
      return;
    }
    const piece = Buffer.from(buffer);
    this.#ready.splice(this.#placeOf(piece.length), 0, piece);
    this.#readyBytes += piece.length;
    while (this.#readyBytes > this.#mostBytes) {
      this.#readyBytes -= this.#ready.shift()?.length ?? 0;
    }
    this.#idle ??= setTimeout(() => this.#giveUp(), IDLE_MS).unref();
    this.#idle.refresh();
  }

  /** That of the smallest piece of so many bytes or more; behind all, where there is none. */
  #placeOf(size: number): number {
    let [low, high] = [0, this.#ready.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ready[middle]?.length ?? 0) < size) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  #giveUp(): void {
    this.#idle = null;
    this.#ready = [];
    this.#readyBytes = 0;
  }
}

const roundedUp = (size: number): number =>
  size > STEP_BYTES ? Math.ceil(size / STEP_BYTES) * STEP_BYTES : 2 ** Math.ceil(Math.log2(size));
