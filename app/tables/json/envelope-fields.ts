import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { OBJECT_BEGIN, OBJECT_END } from '../../records/ascii.ts';
import type { FieldPath } from '../mapping/table-mapping.ts';
import { NO_UNITS, type SchemaUnits, unitsOf } from './connect-schema.ts';
import { DocumentFields, documentKind, type OtherFields } from './document-fields.ts';
import { isEqual } from './field-tree.ts';
import { byteAt, type JsonKind, spaceEnd } from './json-lexer.ts';
import type { JsonSlice } from './json-slice.ts';

/** What an object of schema and payload begins with, as it has no other members. */
const [SCHEMA_NAME, PAYLOAD_NAME] = [Buffer.from('"schema"', 'latin1'), Buffer.from('"payload"', 'latin1')];

const isAt = (name: Buffer, json: Buffer, at: number, end: number): boolean =>
  at + name.length < end && isEqual(name, json, at, at + name.length);

/** Whether JSON may be an object of schema and payload; the answer costs next to nothing. */
function mayBeWrapped(json: Buffer, start: number, end: number): boolean {
  const brace = spaceEnd(json, start, end);
  if (byteAt(json, brace, end) !== OBJECT_BEGIN) {
    return false;
  }
  const at = spaceEnd(json, brace + 1, end);
  return isAt(SCHEMA_NAME, json, at, end) || isAt(PAYLOAD_NAME, json, at, end);
}

/** Paths of the object around a payload. */
const [SCHEMA, TYPE, PAYLOAD] = [0, 1, 2];
const WRAPPER: readonly FieldPath[] = [['schema'], ['schema', 'type'], ['payload']];

/** All up to the payload, which is byte for byte the same in all records of one schema, and what the schema says. */
interface KnownPrefix {
  readonly bytes: Buffer;
  readonly units: SchemaUnits;
}

/**
 * The parts of JSON that Kafka Connect's JsonConverter wrote: as {@link DocumentFields}, but for an object of schema
 * and payload what is taken are parts of the payload. Such an object has these two members alone, and its schema is
 * `null` or an object with a type: any other is taken as it is.
 *
 * The schema is a multiple of its row in bytes. So of a record that begins with the bytes of the one before, up to the
 * payload, only the payload is read: those bytes were valid, and what they say of units is known.
 */
export class EnvelopeFields {
  readonly #paths: readonly FieldPath[];
  readonly #fields: DocumentFields;
  /** Made for the first record that has one. */
  #wrapper: DocumentFields | null = null;
  #known: KnownPrefix | null = null;
  #units: SchemaUnits = NO_UNITS;
  #kind: JsonKind = 'null';

  /** @param paths of what is taken, within the payload; the others as {@link DocumentFields} has them */
  constructor(paths: readonly FieldPath[], others?: OtherFields) {
    this.#paths = paths;
    this.#fields = new DocumentFields(paths, others);
  }

  /** Reads the bytes from `start` up to `end`. @returns why they are no JSON; `null` when they are */
  read(json: Buffer, start: number, end: number): DeadLetterReason | null {
    if (this.#readKnown(json, start, end)) {
      return null;
    }
    return mayBeWrapped(json, start, end) ? this.#readWrapped(json, start, end) : this.#readRow(json, start, end);
  }

  /** Fields of the last row that nothing takes. */
  get unmapped(): number {
    return this.#fields.unmapped;
  }

  /** What the last payload is. */
  get kind(): JsonKind {
    return this.#kind;
  }

  /** What the last schema says of the parts, by the places of their paths; none where there was no schema. */
  get units(): SchemaUnits {
    return this.#units;
  }

  /** What a part of the payload is, by the place of its path; `undefined` where it is absent. */
  kindOf(place: number): JsonKind | undefined {
    return this.#fields.kindOf(place);
  }

  /** The part of the payload that was read last, by the place of its path. */
  of(place: number): JsonSlice | undefined {
    return this.#fields.of(place);
  }

  #readKnown(json: Buffer, start: number, end: number): boolean {
    const known = this.#known;
    const payload = start + (known?.bytes.length ?? 0);
    if (known === null || payload >= end || json[end - 1] !== OBJECT_END) {
      return false;
    }
    if (json.compare(known.bytes, 0, known.bytes.length, start, payload) !== 0) {
      return false;
    }
    return this.#readRow(json, payload, end - 1, known.units) === null;
  }

  #readRow(json: Buffer, start: number, end: number, units = NO_UNITS): DeadLetterReason | null {
    this.#units = units;
    this.#kind = documentKind(json, start, end);
    return this.#fields.read(json, start, end);
  }

  #readWrapped(json: Buffer, start: number, end: number): DeadLetterReason | null {
    this.#wrapper ??= new DocumentFields(WRAPPER, { mapped: [] });
    const wrapper = this.#wrapper;
    const reason = wrapper.read(json, start, end);
    if (reason !== null) {
      return reason;
    }
    const [schema, type, payload] = [SCHEMA, TYPE, PAYLOAD].map((place) => wrapper.of(place));
    const isSchema = schema?.kind === 'null' || (schema?.kind === 'object' && type !== undefined);
    if (!schema || !isSchema || payload === undefined || wrapper.unmapped > 0) {
      return this.#readRow(json, start, end);
    }
    const units = schema.kind === 'null' ? NO_UNITS : unitsOf(parsed(schema), this.#paths);
    if (payload.start > schema.end) {
      this.#known = { bytes: Buffer.from(json.subarray(start, payload.start)), units };
    }
    return this.#readRow(json, payload.start, payload.end, units);
  }
}

const parsed = ({ bytes, start, end }: JsonSlice): unknown => JSON.parse(bytes.toString('utf8', start, end));
