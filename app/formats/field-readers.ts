import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import {
  type FileFormat,
  type Format,
  type FormatName,
  isOfFile,
  type TopicFormats,
} from '../../settings/sections/formats.ts';
import type { RecordCursor } from '../records/record-batch.ts';
import { SCHEMA_ID_FOLLOWS } from '../records/schema-prefix.ts';
import { DocumentFields } from '../tables/json/document-fields.ts';
import { EnvelopeFields } from '../tables/json/envelope-fields.ts';
import { AvroFields } from './avro/avro-fields.ts';
import { AvroProgram } from './avro/avro-program.ts';
import { type FieldReader, ForwardingFields, type Side, type Taken } from './parts/field-reader.ts';
import { ProtoFields } from './protobuf/proto-fields.ts';
import { ProtoProgram } from './protobuf/proto-program.ts';
import type { Schemas } from './registry/schemas.ts';
import { RegistryFields } from './registry-fields.ts';
import { avroFile, messageOfFile } from './schema-files.ts';
import { WholeFields, wholeBytes, wholeText } from './whole-fields.ts';
import { hasForeignHeader } from './wire-format.ts';

/** What reads values by one schema, which nothing before the values names. */
type Reading = (bytes: Buffer, start: number, end: number) => DeadLetterReason | null;

/** Values of Avro or Protobuf by the schema in a file. */
class FileFields extends ForwardingFields {
  protected readonly fields: AvroFields | ProtoFields;
  readonly #read: Reading;

  /** @throws Error where the file cannot be used any more: the check of the settings has found it usable */
  constructor(format: FileFormat, { paths, others }: Taken) {
    super();
    if (format.avro === undefined) {
      const program = new ProtoProgram(format.protobuf, messageOfFile(format), paths, others);
      const fields = new ProtoFields();
      this.fields = fields;
      this.#read = (bytes, start, end) => fields.read(program, bytes, start, end);
    } else {
      const program = new AvroProgram(avroFile(format.avro), paths, others);
      const fields = new AvroFields();
      this.fields = fields;
      this.#read = (bytes, start, end) => fields.read(program, bytes, start, end);
    }
  }

  read(bytes: Buffer, start: number, end: number): DeadLetterReason | null {
    return this.#read(bytes, start, end);
  }
}

/**
 * Values of a topic that has changed its format: what begins with the byte 0 has a schema id. What cannot be read
 * otherwise, and has the header of a foreign format, is refused in the words of that format.
 */
class FirstByteFields extends ForwardingFields {
  readonly #registered: FieldReader;
  readonly #other: FieldReader;
  readonly #side: Side;
  protected fields: FieldReader;

  constructor(registered: FieldReader, other: FieldReader, side: Side) {
    super();
    this.#registered = registered;
    this.#other = other;
    this.#side = side;
    this.fields = other;
  }

  read(bytes: Buffer, start: number, end: number, record: RecordCursor): DeadLetterReason | null {
    const isRegistered = start < end && bytes[start] === SCHEMA_ID_FOLLOWS;
    this.fields = isRegistered ? this.#registered : this.#other;
    const reason = this.fields.read(bytes, start, end, record);
    if (reason === null || isRegistered || !hasForeignHeader(record, this.#side)) {
      return reason;
    }
    this.fields = this.#registered;
    return this.#registered.read(bytes, start, end, record);
  }
}

/** How each format is read. */
const READERS: Readonly<Record<FormatName, (taken: Taken, side: Side, schemas: Schemas) => FieldReader>> = {
  json: ({ paths, others, envelope }) =>
    envelope === undefined ? new DocumentFields(paths, others) : new EnvelopeFields(paths, others),
  registry: (taken, side, schemas) => new RegistryFields(schemas, side, taken),
  text: ({ paths }, side) => new WholeFields(wholeText, paths, side),
  bytes: ({ paths }, side) => new WholeFields(wholeBytes, paths, side),
};

const NO_SCHEMAS: Schemas = {
  of: () => undefined,
  fetch: async () => {
    throw new RangeError('no registry is set');
  },
};

/** Makes the readers of values and keys, by the formats of their topics. */
export class FieldReaders {
  readonly #formatsOf: (topic: string) => TopicFormats;
  readonly #schemas: Schemas;

  /** @param schemas of the registry. Left out: no topic has that format */
  constructor(formatsOf: (topic: string) => TopicFormats, schemas = NO_SCHEMAS) {
    this.#formatsOf = formatsOf;
    this.#schemas = schemas;
  }

  /** Of the values of a topic. */
  ofValue(topic: string, taken: Taken): FieldReader {
    return this.#of(this.#formatsOf(topic).value, taken, 'value');
  }

  /** Of the keys of a topic; `null` where they are text: then they are taken as they are, or fields of JSON of them. */
  ofKey(topic: string, taken: Taken): FieldReader | null {
    const { key = TEXT } = this.#formatsOf(topic);
    return isOnly(key, 'text') ? null : this.#of(key, taken, 'key');
  }

  /** Whether the values of a topic are JSON alone. */
  hasJsonValues(topic: string): boolean {
    return isOnly(this.#formatsOf(topic).value, 'json');
  }

  #of([first = 'json', second]: readonly Format[], taken: Taken, side: Side): FieldReader {
    const one = this.#reader(first, taken, side);
    return second === undefined ? one : new FirstByteFields(one, this.#reader(second, taken, side), side);
  }

  #reader(format: Format, taken: Taken, side: Side): FieldReader {
    return isOfFile(format) ? new FileFields(format, taken) : READERS[format](taken, side, this.#schemas);
  }
}

const TEXT: readonly Format[] = ['text'];

const isOnly = (formats: readonly Format[], format: FormatName): boolean => formats.every((name) => name === format);

/** Where the settings say nothing of formats. */
export const JSON_READERS = new FieldReaders(() => ({ key: undefined, value: ['json'] }));
