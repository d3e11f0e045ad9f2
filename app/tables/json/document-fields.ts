import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { FieldPath } from '../mapping/table-mapping.ts';
import { NO_UNITS, type SchemaUnits } from './connect-schema.ts';
import { type JsonKind, kindAt, spaceEnd } from './json-lexer.ts';
import { JsonScanner } from './json-scanner.ts';
import type { JsonSlice } from './json-slice.ts';

/** What valid JSON is, that is the bytes from `start` up to `end`; a number where there is none. */
export function documentKind(json: Buffer, start: number, end: number): JsonKind {
  const at = spaceEnd(json, start, end);
  return at < end ? kindAt(json, at) : 'number';
}

/** Fields that none of the paths names. */
export interface OtherFields {
  readonly mapped: readonly FieldPath[];
  readonly onUnmapped?: (name: string | null) => void;
  /** Path of the object whose fields they are. @default the whole document */
  readonly row?: FieldPath;
}

/** The parts of one JSON document that are taken: of a record's value, or of its key. */
export class DocumentFields {
  readonly #scanner: JsonScanner;
  #json: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;

  /**
   * @param paths of what is taken; a path of no parts is the whole document
   * @param others fields that count as taken, too, and what is called with the rest, as {@link JsonScanner} does.
   * @default all count as taken
   */
  constructor(paths: readonly FieldPath[], others: OtherFields = { mapped: [[]] }) {
    this.#scanner = new JsonScanner([...paths, ...others.mapped], others.onUnmapped, others.row);
  }

  /** Reads the bytes from `start` up to `end`. @returns why they are no JSON; `null` when they are */
  read(json: Buffer, start: number, end: number): DeadLetterReason | null {
    this.#json = json;
    this.#start = start;
    this.#end = end;
    return this.#scanner.scan(json, start, end);
  }

  /** Fields of the last document that nothing takes. */
  get unmapped(): number {
    return this.#scanner.unmappedFields;
  }

  /** What the last document is. */
  get kind(): JsonKind {
    return documentKind(this.#json, this.#start, this.#end);
  }

  /** Nothing says any. */
  get units(): SchemaUnits {
    return NO_UNITS;
  }

  /** What a part is, by the place of its path; `undefined` where it is absent. */
  kindOf(place: number): JsonKind | undefined {
    return this.#scanner.kind(place) ?? undefined;
  }

  /** The part of the document that was read last, by the place of its path. */
  of(place: number): JsonSlice | undefined {
    const scanner = this.#scanner;
    const start = scanner.start(place);
    if (start < 0) {
      return undefined;
    }
    const bytes = this.#json;
    return { bytes, start, end: scanner.end(place), kind: kindAt(bytes, start), hasEscapes: scanner.isEscaped(place) };
  }
}
