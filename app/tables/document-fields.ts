import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { type JsonKind, kindAt, spaceEnd } from './json-lexer.ts';
import { JsonScanner } from './json-scanner.ts';
import type { JsonSlice } from './json-slice.ts';
import type { FieldPath } from './table-mapping.ts';

const kindOf = (json: Buffer): JsonKind => kindAt(json, spaceEnd(json, 0));

/** Whether valid JSON is an object. */
export const isObject = (json: Buffer): boolean => kindOf(json) === 'object';

/** Whether valid JSON is a string. */
export const isString = (json: Buffer): boolean => kindOf(json) === 'string';

/** Fields that none of the takers names. */
interface OtherFields {
  readonly mapped: readonly FieldPath[];
  readonly onUnmapped?: (name: string | null) => void;
}

/** The parts of one JSON document that are taken: of a record's value, or of its key. */
export class DocumentFields<Taker> {
  readonly #scanner: JsonScanner;
  readonly #places: ReadonlyMap<Taker, number>;
  #json: Buffer = Buffer.alloc(0);

  /**
   * @param paths by what takes them; a path of no parts is the whole document
   * @param others fields that count as taken, too, and what is told of the rest, as {@link JsonScanner} does. @default
   * all count as taken
   */
  constructor(paths: ReadonlyMap<Taker, FieldPath>, others: OtherFields = { mapped: [[]] }) {
    this.#scanner = new JsonScanner([...paths.values(), ...others.mapped], others.onUnmapped);
    this.#places = new Map([...paths.keys()].map((taker, place) => [taker, place]));
  }

  /** @returns why the document is no JSON; `null` when it is */
  read(json: Buffer): DeadLetterReason | null {
    this.#json = json;
    return this.#scanner.scan(json);
  }

  /** Fields of the last document that nothing takes. */
  get unmapped(): number {
    return this.#scanner.unmappedFields;
  }

  /** A part of the document that was read last. */
  of(taker: Taker): JsonSlice | undefined {
    const place = this.#places.get(taker) ?? 0;
    const kind = this.#scanner.kind(place);
    if (kind === null) {
      return undefined;
    }
    const [start, end] = [this.#scanner.start(place), this.#scanner.end(place)];
    return { bytes: this.#json, start, end, kind, hasEscapes: this.#scanner.isEscaped(place) };
  }
}
