import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { JsonScanner } from './json-scanner.ts';
import type { JsonSlice } from './json-slice.ts';
import type { FieldPath } from './table-mapping.ts';

const OPENED_OBJECT = '{'.charCodeAt(0);
const QUOTE = '"'.charCodeAt(0);
/** Blanks of JSON are at most this, and nothing else before a value is (RFC 8259, section 2). */
const SPACE = 0x20;

const beginsWith = (json: Buffer, byte: number): boolean => json[json.findIndex((each) => each > SPACE)] === byte;

/** Whether valid JSON is an object. */
export const isObject = (json: Buffer): boolean => beginsWith(json, OPENED_OBJECT);

/** Whether valid JSON is a string. */
export const isString = (json: Buffer): boolean => beginsWith(json, QUOTE);

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
