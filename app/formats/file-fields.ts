import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { FileFormat } from '../../settings/sections/formats.ts';
import { AvroFields } from './avro/avro-fields.ts';
import { AvroProgram } from './avro/avro-program.ts';
import { ForwardingFields, type Taken } from './parts/field-reader.ts';
import { ProtoFields } from './protobuf/proto-fields.ts';
import { ProtoProgram } from './protobuf/proto-program.ts';
import { avroFile, messageOfFile } from './schema-files.ts';

/** What reads values by one schema, which nothing before the values names. */
type Reading = (bytes: Buffer, start: number, end: number) => DeadLetterReason | null;

/** Values of Avro or Protobuf by the schema in a file. */
export class FileFields extends ForwardingFields {
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
