import type { OnUnmapped } from '../../tables/json/field-tree.ts';

/** Names that are reported, and the characters of the longest one that is: as for JSON. */
const MOST_NAMES = 100;
const LONGEST_NAME = 128;

/** Reports the names of fields that nothing takes: each once, and `null` once for all that are too many or too long. */
export class UnmappedNames {
  readonly #report: OnUnmapped;
  readonly #known = new Set<string | null>();

  /** @param report @default never called */
  constructor(report: OnUnmapped = () => undefined) {
    this.#report = report;
  }

  /** Whether there are no more names to report. */
  get isFull(): boolean {
    return this.#known.has(null) && this.#known.size > MOST_NAMES;
  }

  add(name: string): void {
    if (this.#known.has(name)) {
      return;
    }
    const names = this.#known.size - Number(this.#known.has(null));
    const key = names < MOST_NAMES && Buffer.byteLength(name) <= LONGEST_NAME ? name : null;
    if (!this.#known.has(key)) {
      this.#known.add(key);
      this.#report(key);
    }
  }
}
