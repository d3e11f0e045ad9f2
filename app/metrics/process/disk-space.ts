import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { MetricSources } from '../exposition/metric-source.ts';

/**
 * Free and total bytes of a file system. A file system that hangs may hang for ever, so a scrape shows the last reading
 * and starts the next one; there is no series before the first answer.
 */
export class DiskSpace {
  readonly #path: string;
  #space: { readonly free: number; readonly total: number } | null = null;
  #reading: Promise<void> | null = null;

  constructor(path: string) {
    this.#path = resolve(path);
  }

  /** Reads anew; calls during a reading join it. Never rejects. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  get sources(): Pick<MetricSources, 'diskFree' | 'diskTotal'> {
    const labels = { path: this.#path };
    return {
      diskFree: () => {
        void this.refresh();
        return this.#space === null ? [] : [{ labels, value: this.#space.free }];
      },
      diskTotal: () => (this.#space === null ? [] : [{ labels, value: this.#space.total }]),
    };
  }

  async #read(): Promise<void> {
    try {
      const { blocks, bavail, bsize } = await statfs(this.#path);
      this.#space = { free: bavail * bsize, total: blocks * bsize };
    } catch {
      this.#space = null;
    }
  }
}
