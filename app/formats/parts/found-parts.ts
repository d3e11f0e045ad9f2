import type { JsonSlice, ValueKind } from '../../tables/json/json-slice.ts';
import type { ValueUnit } from '../../tables/mapping/table-mapping.ts';

export const NO_BYTES = Buffer.alloc(0);

/** The words of JSON. */
export const WORDS = {
  true: Buffer.from('true', 'latin1'),
  false: Buffer.from('false', 'latin1'),
  null: Buffer.from('null', 'latin1'),
} as const;

/** What was found of a value, by the nodes of a program. @typeParam Type of parts whose JSON is written later */
export class FoundParts<Type = never> {
  readonly #kinds: (ValueKind | null)[] = [];
  readonly #sources: Buffer[] = [];
  #starts = new Int32Array(0);
  #ends = new Int32Array(0);
  #escaped = new Uint8Array(0);
  readonly #units: (ValueUnit | undefined)[] = [];
  readonly #unwritten: (Type | null)[] = [];

  /** Forgets all that was found. @param size nodes of the program */
  begin(size: number): void {
    if (this.#starts.length < size) {
      this.#starts = new Int32Array(size);
      this.#ends = new Int32Array(size);
      this.#escaped = new Uint8Array(size);
    }
    for (let node = 0; node < size; node += 1) {
      this.#kinds[node] = null;
    }
  }

  /** Forgets the nodes from `first` up to `last`. */
  forget(first: number, last: number): void {
    this.#kinds.fill(null, first, last);
  }

  /**
   * A part whose text are the bytes from `start` up to `end`.
   *
   * @param hasEscapes whether a string has some, or JSON has to escape something of a text. @default false
   */
  put(node: number, kind: ValueKind, source: Buffer, start: number, end: number, hasEscapes = false): void {
    this.#kinds[node] = kind;
    this.#sources[node] = source;
    this.#starts[node] = start;
    this.#ends[node] = end;
    this.#escaped[node] = hasEscapes ? 1 : 0;
    this.#unwritten[node] = null;
  }

  /** The same of a text. @param hasEscapes whether JSON has to escape something of it */
  putText(node: number, { bytes, from, to }: { bytes: Buffer; from: number; to: number }, hasEscapes: boolean): void {
    this.put(node, 'text', bytes, from, to, hasEscapes);
  }

  /** The same of a word. */
  putWord(node: number, word: keyof typeof WORDS): void {
    this.put(node, word, WORDS[word], 0, word.length);
  }

  /** A part that is to be JSON, which begins there in the value's bytes. */
  putUnwritten(node: number, kind: ValueKind, type: Type, start: number): void {
    this.put(node, kind, NO_BYTES, start, start);
    this.#unwritten[node] = type;
  }

  setUnit(node: number, unit: ValueUnit | undefined): void {
    this.#units[node] = unit;
  }

  unit(node: number): ValueUnit | undefined {
    return this.#units[node];
  }

  kind(node: number): ValueKind | null {
    return this.#kinds[node] ?? null;
  }

  /** The type of a part whose JSON has to be written first. */
  unwritten(node: number): Type | null {
    return this.#unwritten[node] ?? null;
  }

  start(node: number): number {
    return this.#starts[node] ?? 0;
  }

  slice(node: number, kind: ValueKind): JsonSlice {
    return {
      bytes: this.#sources[node] ?? NO_BYTES,
      start: this.#starts[node] ?? 0,
      end: this.#ends[node] ?? 0,
      kind,
      hasEscapes: this.#escaped[node] === 1,
    };
  }
}
