import type { Taken } from '../parts/field-reader.ts';
import type { RegisteredSchema } from '../registry/schemas.ts';
import { ProtoProgram } from './proto-program.ts';
import { ProtoSchema } from './proto-schema.ts';

/** Messages of a schema that are kept: a topic has few, and a schema may have thousands. */
const MOST_MESSAGE_PROGRAMS = 100;

/** The first message of a schema. */
const FIRST: readonly number[] = [0];
/** Messages within each other that an index leads through. */
const MOST_INDEXES = 100;

/**
 * Which message of its schema a value is, as Confluent's serializers write it behind the schema id: a number of indexes
 * and then each, in zigzag coding; one that is 0 in all is the first message (Confluent, "Wire format").
 */
export class MessageIndex {
  /** Behind the indexes that were read last. */
  at = 0;
  /** The indexes. */
  path: readonly number[] = FIRST;

  /** @returns whether indexes are the first of the bytes from `start` up to `end` */
  read(bytes: Buffer, start: number, end: number): boolean {
    this.at = start;
    this.path = FIRST;
    const count = this.#number(bytes, end);
    if (count === 0) {
      return true;
    }
    if (!(count > 0 && count <= MOST_INDEXES)) {
      return false;
    }
    this.path = Array.from({ length: count }, () => this.#number(bytes, end));
    return this.path.every((index) => index >= 0);
  }

  /** @returns negative where there is none, or none below 2 ** 20 */
  #number(bytes: Buffer, end: number): number {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.at < end ? (bytes[this.at] ?? 0) : 255;
      this.at += 1;
      value |= (byte & 127) << shift;
      if (byte < 128) {
        return (value & 1) === 0 ? value >>> 1 : -1;
      }
    }
    return -1;
  }
}

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
    if (this.#programs.size >= MOST_MESSAGE_PROGRAMS) {
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
