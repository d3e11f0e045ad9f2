import { ProtoFields } from '../../../../app/formats/protobuf/proto-fields.ts';
import { ProtoProgram } from '../../../../app/formats/protobuf/proto-program.ts';
import { ProtoSchema } from '../../../../app/formats/protobuf/proto-schema.ts';
import type { OtherFields } from '../../../../app/tables/json/document-fields.ts';
import { sentJson } from '../../../../app/tables/json/json-slice.ts';
import type { FieldPath } from '../../../../app/tables/mapping/table-mapping.ts';

/** A schema of these files; the first message of the first one is meant. */
export const schemaOf = (text: string, files: Readonly<Record<string, string>> = {}): ProtoSchema =>
  new ProtoSchema({ id: 7, text, imported: (name) => files[name] ?? null });

/** A reader of parts of the first message of a schema. */
export function readerOf(text: string, paths: readonly FieldPath[] = [[]], others?: OtherFields) {
  const type = schemaOf(text).messageAt([0]);
  if (type === undefined) {
    throw new Error('the schema has no message');
  }
  const program = new ProtoProgram(7, type, paths, others);
  const fields = new ProtoFields();
  return {
    fields,
    /** Why bytes are refused with the words; else the parts, as JSON. */
    read: (bytes: Buffer) => {
      const reason = fields.read(program, bytes, 0, bytes.length);
      const parts = paths.map((_, place) => fields.of(place)).map((part) => part && sentJson(part));
      return reason === null ? parts : { reason, words: fields.words, parts };
    },
  };
}
