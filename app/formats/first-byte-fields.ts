import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { RecordCursor } from '../records/record-batch.ts';
import { SCHEMA_ID_FOLLOWS } from '../records/schema-prefix.ts';
import type { SchemaUnits } from '../tables/json/connect-schema.ts';
import type { JsonSlice, ValueKind } from '../tables/json/json-slice.ts';
import type { FieldReader } from './field-reader.ts';

/** Values of a topic that has changed its format: what begins with the byte 0 has a schema id. */
export class FirstByteFields implements FieldReader {
  readonly #registered: FieldReader;
  readonly #other: FieldReader;
  #fields: FieldReader;

  constructor(registered: FieldReader, other: FieldReader) {
    this.#registered = registered;
    this.#other = other;
    this.#fields = other;
  }

  read(bytes: Buffer, start: number, end: number, record: RecordCursor): DeadLetterReason | null {
    const isRegistered = start < end && bytes[start] === SCHEMA_ID_FOLLOWS;
    this.#fields = isRegistered ? this.#registered : this.#other;
    return this.#fields.read(bytes, start, end, record);
  }

  get words(): string | undefined {
    return this.#fields.words;
  }

  get kind(): ValueKind {
    return this.#fields.kind;
  }

  get units(): SchemaUnits {
    return this.#fields.units;
  }

  get unmapped(): number {
    return this.#fields.unmapped;
  }

  kindOf(place: number): ValueKind | undefined {
    return this.#fields.kindOf(place);
  }

  of(place: number): JsonSlice | undefined {
    return this.#fields.of(place);
  }
}
