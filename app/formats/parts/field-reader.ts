import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import type { RecordCursor } from '../../records/record-batch.ts';
import type { SchemaUnits } from '../../tables/json/connect-schema.ts';
import type { OtherFields } from '../../tables/json/document-fields.ts';
import type { JsonSlice, ValueKind } from '../../tables/json/json-slice.ts';
import type { FieldPath, TableEnvelope } from '../../tables/mapping/table-mapping.ts';

/** The value of a record, or its key. */
export type Side = 'value' | 'key';

export const SIDES: readonly Side[] = ['value', 'key'];

/** What is taken of the values, or of the keys, of a topic's records. */
export interface Taken {
  /** Of the parts; a path of no parts is the whole value. A reader knows each part by the place of its path. */
  readonly paths: readonly FieldPath[];
  /** Fields that count as taken, too, and what is called with the rest. @default all count as taken */
  readonly others?: OtherFields;
  /** What is around a value in JSON. Left out: nothing is. Other formats have nothing around a value. */
  readonly envelope?: TableEnvelope;
}

/**
 * Finds parts of one value after another. Each format has its own reader, which never throws for what the bytes are.
 * What was found is valid until the next {@link read}.
 *
 * Of a part a format gives what PostgreSQL's input functions read, as slices of the record or of the format's memory:
 *
 * - a string as `text`, which is UTF-8, or as a JSON string; bytes as a JSON string of base64
 * - numbers and decimals by all their digits, `number`; NaN and the infinities as a `text`
 * - objects and lists, and all that is within them, as JSON
 */
export interface FieldReader {
  /**
   * Reads the bytes from `start` up to `end`.
   *
   * @param record whose value or key they are, for its headers
   * @returns why they cannot be read; `null` when they can
   * @throws OutageError where a schema is needed that was not fetched
   */
  read(bytes: Buffer, start: number, end: number, record: RecordCursor): DeadLetterReason | null;
  /** Why the last value could not be read. Left out: the words of the reason say all. */
  readonly words?: string | undefined;
  /** What the last value is. */
  readonly kind: ValueKind;
  /** What its schema says of the parts, by the places of their paths; none where it has no schema. */
  readonly units: SchemaUnits;
  /** Its fields that nothing takes. */
  readonly unmapped: number;
  /** What {@link of} has at the place of a path, for less work. */
  kindOf(place: number): ValueKind | undefined;
  /** The part of the last value at the place of a path; `undefined` where it has none. */
  of(place: number): JsonSlice | undefined;
}

/** A reader that another one reads for, or several in turn. */
export abstract class ForwardingFields implements FieldReader {
  /** What has read the last value. */
  protected abstract readonly fields: Omit<FieldReader, 'read'>;

  abstract read(bytes: Buffer, start: number, end: number, record: RecordCursor): DeadLetterReason | null;

  get words(): string | undefined {
    return this.fields.words;
  }

  get kind(): ValueKind {
    return this.fields.kind;
  }

  get units(): SchemaUnits {
    return this.fields.units;
  }

  get unmapped(): number {
    return this.fields.unmapped;
  }

  kindOf(place: number): ValueKind | undefined {
    return this.fields.kindOf(place);
  }

  of(place: number): JsonSlice | undefined {
    return this.fields.of(place);
  }
}
