/** A schema as the registry has it, with all schemas that it refers to: flattened, those referred to first. */
export interface RegisteredSchema {
  readonly id: number;
  readonly type: 'AVRO' | 'JSON' | 'PROTOBUF';
  readonly text: string;
  /** By the name that the other one has for it: a full name of Avro, a URL of JSON Schema, a file of Protobuf. */
  readonly references: readonly { readonly name: string; readonly text: string }[];
}

/** An id that no record can be decoded with, and why. */
export interface UnusableSchema {
  readonly id: number;
  /** That of the dead letter. */
  readonly reason: 'unknown_schema' | 'undecodable';
  /** For a dead letter: they name the id and the fault. */
  readonly words: string;
}

/** The schemas of a registry, by id. */
export interface Schemas {
  /** What is known of the id now; `undefined`: {@link fetch} has to ask for it first. Never asks the registry. */
  of(id: number): RegisteredSchema | UnusableSchema | undefined;
  /**
   * Asks the registry for those ids that {@link of} does not know, and resolves when it knows all of them.
   *
   * @throws OutageError `registry_away` where the registry cannot answer now: no id is unknown for that
   */
  fetch(ids: ReadonlySet<number>): Promise<void>;
}

/** Whether records can be decoded with what is known of an id. */
export const isUsable = (schema: RegisteredSchema | UnusableSchema): schema is RegisteredSchema => 'text' in schema;
