import type { Taken } from '../field-reader.ts';
import type { RegisteredSchema } from '../registry/schemas.ts';
import { ProtoProgram } from './proto-program.ts';
import { ProtoSchema } from './proto-schema.ts';

/** Messages of a schema that are kept: a topic has few, and a schema may have thousands. */
const MOST_PROGRAMS = 100;

/** The messages of a schema of the registry, each compiled when the first value of it is read. */
export class RegisteredMessages {
  readonly #schema: ProtoSchema;
  readonly #taken: Taken;
  readonly #id: number;
  readonly #programs = new Map<string, ProtoProgram>();
  /** Of the last value: those of one message follow each other. */
  #path: readonly number[] = [];
  #program: ProtoProgram | null = null;

  /** @throws ProtoSchemaError where it is no schema of Protobuf */
  constructor(schema: RegisteredSchema, taken: Taken) {
    this.#schema = protoSchemaOf(schema);
    this.#taken = taken;
    this.#id = schema.id;
  }

  /**
   * The program of a message.
   *
   * @returns `undefined` where the schema has no such message
   * @throws ProtoSchemaError where a field of it has no type
   */
  programOf(path: readonly number[]): ProtoProgram | undefined {
    if (path !== this.#path || this.#program === null) {
      this.#program = this.#programs.get(path.join()) ?? this.#compiled(path);
      this.#path = path;
    }
    return this.#program ?? undefined;
  }

  #compiled(path: readonly number[]): ProtoProgram | null {
    const message = this.#schema.messageAt(path);
    if (message === undefined) {
      return null;
    }
    if (this.#programs.size >= MOST_PROGRAMS) {
      this.#programs.clear();
    }
    const { paths, others } = this.#taken;
    const program = new ProtoProgram(this.#id, message, paths, others);
    this.#programs.set(path.join(), program);
    return program;
  }
}

/** A schema of the registry. @throws ProtoSchemaError where it is none of Protobuf */
export function protoSchemaOf({ id, text, references }: RegisteredSchema): ProtoSchema {
  const texts = new Map(references.map((file) => [file.name, file.text]));
  return new ProtoSchema({ id, text, imported: (name) => texts.get(name) ?? null });
}
