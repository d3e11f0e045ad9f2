import type { Labels } from './metric-source.ts';

/** Makes label objects once and gives the same one each time: the exposition keeps what it wrote of each. */
export class LabelSets<Parts extends readonly string[]> {
  readonly #make: (...parts: Parts) => Labels;
  readonly #made = new Map<string, Labels>();

  /** @param make the labels from their parts, which tell the set apart */
  constructor(make: (...parts: Parts) => Labels) {
    this.#make = make;
  }

  of(...parts: Parts): Labels {
    const key = parts.join('\0');
    const known = this.#made.get(key);
    if (known !== undefined) {
      return known;
    }
    const labels = this.#make(...parts);
    this.#made.set(key, labels);
    return labels;
  }
}
