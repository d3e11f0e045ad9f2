const KIB = 1_024;

/** What is smaller is cheap to come by. */
const LEAST_POOLED_BYTES = 8 * KIB;

/** Sizes are powers of 2 up to here, and multiples of it beyond, so that what one took fits another one. */
const STEP_BYTES = 256 * KIB;

/** A piece has no more than so many times the bytes that are asked for. */
const MOST_TIMES = 2;

/** What nobody has asked for in this time is given up, after twice as long at the latest. */
const KEPT_READY_MS = 2_000;

/** A piece that lies ready. */
interface Ready {
  readonly piece: Buffer;
  /** When it was given back, in milliseconds of a monotonic clock. */
  readonly since: number;
}

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
  #ready: Ready[] = [];
  #readyBytes = 0;
  readonly #taken = new WeakSet<ArrayBufferLike>();
  #idle: NodeJS.Timeout | null = null;

  /** @param mostBytes that lie ready */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** @returns so many bytes or more, at most twice as many, with anything in them */
  take(size: number): Buffer {
    if (size < LEAST_POOLED_BYTES) {
      return Buffer.allocUnsafe(size);
    }
    const place = this.#placeOf(size);
    const fits = (this.#ready[place]?.piece.length ?? Number.POSITIVE_INFINITY) <= MOST_TIMES * size;
    const piece = fits ? this.#remove(place) : null;
    const taken = piece ?? Buffer.allocUnsafeSlow(roundedUp(size));
    this.#taken.add(taken.buffer);
    return taken;
  }

  /** Bytes that stay in memory as long as anyone has any part of this piece; 0 where it is none that was taken here. */
  bytesOf({ buffer }: Buffer): number {
    return this.#taken.has(buffer) ? buffer.byteLength : 0;
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
    const ready = { piece: Buffer.from(buffer), since: performance.now() };
    this.#ready.splice(this.#placeOf(ready.piece.length), 0, ready);
    this.#readyBytes += ready.piece.length;
    while (this.#readyBytes > this.#mostBytes) {
      this.#remove(this.#oldest);
    }
    this.#idle ??= setTimeout(() => this.#giveUp(), KEPT_READY_MS).unref();
  }

  /** The place of what was given back longest ago: pieces of a size that is not used any more make room for others. */
  get #oldest(): number {
    return this.#ready.reduce((oldest, { since }, place, all) => {
      return since < (all[oldest]?.since ?? 0) ? place : oldest;
    }, 0);
  }

  #remove(place: number): Buffer | null {
    const [ready] = this.#ready.splice(place, 1);
    this.#readyBytes -= ready?.piece.length ?? 0;
    return ready?.piece ?? null;
  }

  /** That of the smallest piece of so many bytes or more; behind all, where there is none. */
  #placeOf(size: number): number {
    let [low, high] = [0, this.#ready.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ready[middle]?.piece.length ?? 0) < size) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  #giveUp(): void {
    const now = performance.now();
    this.#ready = this.#ready.filter(({ since }) => now - since < KEPT_READY_MS);
    this.#readyBytes = this.#ready.reduce((sum, { piece }) => sum + piece.length, 0);
    this.#idle = this.#ready.length === 0 ? null : setTimeout(() => this.#giveUp(), KEPT_READY_MS).unref();
  }
}

const roundedUp = (size: number): number =>
  size > STEP_BYTES ? Math.ceil(size / STEP_BYTES) * STEP_BYTES : 2 ** Math.ceil(Math.log2(size));
