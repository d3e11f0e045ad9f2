import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { RecordCursor } from '../records/record-batch.ts';
import { PREFIX_BYTES } from '../records/schema-prefix.ts';
import { OutageError } from '../stream/ports/stream-errors.ts';
import { NO_UNITS, type SchemaUnits } from '../tables/json/connect-schema.ts';
import { DocumentFields } from '../tables/json/document-fields.ts';
import type { JsonSlice, ValueKind } from '../tables/json/json-slice.ts';
import { AvroFields } from './avro/avro-fields.ts';
import { AvroProgram } from './avro/avro-program.ts';
import { AvroSchemaError } from './avro/avro-schema.ts';
import { unitsOfJsonSchema } from './json-schema.ts';
import type { FieldReader, Side, Taken } from './parts/field-reader.ts';
import { ProtoFields } from './protobuf/proto-fields.ts';
import { ProtoSchemaError } from './protobuf/proto-files.ts';
import type { ProtoProgram } from './protobuf/proto-program.ts';
import { MessageIndex, RegisteredMessages } from './protobuf/registered-messages.ts';
import { SchemaCache } from './registry/schema-cache.ts';
import { isUsable, type RegisteredSchema, type Schemas } from './registry/schemas.ts';
import { schemaIdOf, withoutSchemaId } from './wire-format.ts';

/** Compiled schemas that are kept for one table and side. */
const MOST_PROGRAMS = 1_000;

const NO_ID_YET = 0;

/** How values of a schema are read; a refusal where they cannot be. */
type Program = AvroProgram | RegisteredMessages | { readonly units: SchemaUnits } | Refused;

class Refused {
  readonly reason: DeadLetterReason;
  readonly words: string;

  constructor(reason: DeadLetterReason, words: string) {
    this.reason = reason;
    this.words = words;
  }
}

/**
 * Values behind the id of a schema of a registry: Avro, Protobuf, or JSON by a JSON Schema. Each schema is compiled
 * once for what is taken. The registry is never asked here: what a batch needs was fetched before.
 */
export class RegistryFields implements FieldReader {
  readonly #schemas: Schemas;
  readonly #side: Side;
  readonly #taken: Taken;
  readonly #programs = new SchemaCache<Program>(MOST_PROGRAMS);
  /** Of the last value: those of one schema follow each other. */
  #id = NO_ID_YET;
  #program: Program | null = null;
  #words: string | undefined;
  readonly #avro = new AvroFields();
  readonly #protobuf = new ProtoFields();
  readonly #index = new MessageIndex();
  /** Made for the first value that is JSON. */
  #json: DocumentFields | null = null;
  #fields: AvroFields | ProtoFields | DocumentFields = this.#avro;
  #units: SchemaUnits = NO_UNITS;

  constructor(schemas: Schemas, side: Side, taken: Taken) {
    this.#schemas = schemas;
    this.#side = side;
    this.#taken = taken;
  }

  read(bytes: Buffer, start: number, end: number, record: RecordCursor): DeadLetterReason | null {
    const id = schemaIdOf(record, this.#side);
    if (id === NO_ID_YET) {
      this.#words = withoutSchemaId(record, this.#side);
      return 'undecodable';
    }
    const program = id === this.#id && this.#program !== null ? this.#program : this.#programOf(id);
    if (program instanceof AvroProgram) {
      const reason = this.#avro.read(program, bytes, start + PREFIX_BYTES, end);
      this.#fields = this.#avro;
      this.#words = this.#avro.words;
      this.#units = this.#avro.units;
      return reason;
    }
    if (program instanceof RegisteredMessages) {
      return this.#message(program, bytes, start + PREFIX_BYTES, end);
    }
    if (program instanceof Refused) {
      this.#words = program.words;
      return program.reason;
    }
    const { paths, others } = this.#taken;
    this.#json ??= new DocumentFields(paths, others);
    this.#fields = this.#json;
    this.#units = program.units;
    this.#words = `behind the id of schema ${id}, its ${this.#side} is not the JSON that the schema is about`;
    return this.#json.read(bytes, start + PREFIX_BYTES, end);
  }

  #message(messages: RegisteredMessages, bytes: Buffer, start: number, end: number): DeadLetterReason | null {
    const program = this.#messageProgram(messages, bytes, start, end);
    if (program instanceof Refused) {
      this.#words = program.words;
      return program.reason;
    }
    const reason = this.#protobuf.read(program, bytes, this.#index.at, end);
    this.#fields = this.#protobuf;
    this.#words = this.#protobuf.words;
    this.#units = this.#protobuf.units;
    return reason;
  }

  #messageProgram(messages: RegisteredMessages, bytes: Buffer, start: number, end: number): ProtoProgram | Refused {
    const index = this.#index;
    if (!index.read(bytes, start, end)) {
      return new Refused('undecodable', `behind the id of schema ${this.#id} there are no indexes of a message`);
    }
    try {
      const program = messages.programOf(index.path);
      const words = `schema ${this.#id} has no message of the index ${index.path.join()}`;
      return program ?? new Refused('undecodable', words);
    } catch (error) {
      if (error instanceof ProtoSchemaError) {
        return new Refused('undecodable', error.message);
      }
      throw error;
    }
  }

  get words(): string | undefined {
    return this.#words;
  }

  get kind(): ValueKind {
    return this.#fields.kind;
  }

  get units(): SchemaUnits {
    return this.#units;
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

  /** @throws OutageError where the schema was not fetched: the batch is tried again, and its schemas are asked for */
  #programOf(id: number): Program {
    const known = this.#programs.get(id);
    if (known !== undefined) {
      this.#id = id;
      this.#program = known;
      return known;
    }
    const schema = this.#schemas.of(id);
    if (schema === undefined) {
      throw new OutageError(`schema ${id} of the registry was not fetched`, { reason: 'registry_away' });
    }
    if (!isUsable(schema)) {
      // What the registry knows may change.
      return new Refused(schema.reason, schema.words);
    }
    const program = this.#compiled(schema);
    this.#programs.set(id, program);
    this.#id = id;
    this.#program = program;
    return program;
  }

  #compiled(schema: RegisteredSchema): Program {
    const { paths, others } = this.#taken;
    try {
      switch (schema.type) {
        case 'AVRO':
          return new AvroProgram(schema, paths, others);
        case 'PROTOBUF':
          return new RegisteredMessages(schema, this.#taken);
        case 'JSON':
          return { units: unitsOfJsonSchema(schema, paths) };
      }
    } catch (error) {
      if (error instanceof AvroSchemaError || error instanceof ProtoSchemaError) {
        return new Refused('undecodable', error.message);
      }
      if (error instanceof SyntaxError) {
        return new Refused(
          'undecodable',
          `its ${this.#side} is written by schema ${schema.id}, which is no JSON Schema`,
        );
      }
      throw error;
    }
  }
}
