import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { RecordCursor } from '../records/record-batch.ts';
import { SCHEMA_ID_FOLLOWS } from '../records/schema-prefix.ts';
import { type FieldReader, ForwardingFields } from './parts/field-reader.ts';

/** Values of a topic that has changed its format: what begins with the byte 0 has a schema id. */
export class FirstByteFields extends ForwardingFields {
  readonly #registered: FieldReader;
  readonly #other: FieldReader;
  protected fields: FieldReader;

  constructor(registered: FieldReader, other: FieldReader) {
    super();
    this.#registered = registered;
    this.#other = other;
    this.fields = other;
  }

  read(bytes: Buffer, start: number, end: number, record: RecordCursor): DeadLetterReason | null {
    const isRegistered = start < end && bytes[start] === SCHEMA_ID_FOLLOWS;
    this.fields = isRegistered ? this.#registered : this.#other;
    return this.fields.read(bytes, start, end, record);
  }
}
