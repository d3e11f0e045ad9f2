import { isUtf8 } from 'node:buffer';
import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { NO_UNITS } from '../tables/json/connect-schema.ts';
import { runEnd } from '../tables/json/json-lexer.ts';
import type { JsonSlice, ValueKind } from '../tables/json/json-slice.ts';
import type { FieldPath } from '../tables/mapping/table-mapping.ts';
import type { FieldReader, Side } from './parts/field-reader.ts';

/** What a format without parts makes of a value; `null`: it is none of the format. */
type WholeOf = (bytes: Buffer, start: number, end: number) => JsonSlice | null;

/** Text in UTF-8. */
export const wholeText: WholeOf = (bytes, start, end) =>
  isUtf8(bytes.subarray(start, end))
    ? { bytes, start, end, kind: 'text', hasEscapes: runEnd(bytes, start, end) < end }
    : null;

/** Any bytes, as a string of base64: what a `bytea` takes for its bytes. */
export const wholeBytes: WholeOf = (bytes, start, end) => {
  const json = Buffer.from(`"${bytes.toString('base64', start, end)}"`, 'latin1');
  return { bytes: json, start: 0, end: json.length, kind: 'string', hasEscapes: false };
};

/** Values of a format without parts: the path of no parts alone finds something. */
export class WholeFields implements FieldReader {
  readonly words: string;
  readonly units = NO_UNITS;
  readonly unmapped = 0;
  readonly #paths: readonly FieldPath[];
  readonly #wholeOf: WholeOf;
  #whole: JsonSlice | null = null;

  constructor(wholeOf: WholeOf, paths: readonly FieldPath[], side: Side) {
    this.#wholeOf = wholeOf;
    this.#paths = paths;
    this.words = `its ${side} is not UTF-8`;
  }

  read(bytes: Buffer, start: number, end: number): DeadLetterReason | null {
    this.#whole = this.#wholeOf(bytes, start, end);
    return this.#whole === null ? 'invalid_utf8' : null;
  }

  get kind(): ValueKind {
    return this.#whole?.kind ?? 'null';
  }

  kindOf(place: number): ValueKind | undefined {
    return this.of(place)?.kind;
  }

  of(place: number): JsonSlice | undefined {
    return this.#whole !== null && this.#paths[place]?.length === 0 ? this.#whole : undefined;
  }
}
