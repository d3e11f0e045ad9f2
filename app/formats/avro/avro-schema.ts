import { printable } from '../../logging/printable-text.ts';
import { type AvroField, AvroType, type Json, logicalType, PRIMITIVES } from './avro-type.ts';

/** A schema with the schemas that it refers to. */
export interface SchemaText {
  /** Of the registry, or the path of its file. */
  readonly id: number | string;
  readonly text: string;
  readonly references: readonly { readonly name: string; readonly text: string }[];
}

/** A schema that no value can be read with. The message says why, and that of which schema. */
export class AvroSchemaError extends Error {
  override name = 'AvroSchemaError';
}

/** Characters of a schema's text. */
const MOST_TEXT = 1_048_576;
/** Types and fields of a schema, with those that it refers to. */
const MOST_PARTS = 100_000;
/** Types within each other, also by name. */
const MOST_NESTED_TYPES = 500;
/** Characters of a name in a message. */
const MOST_SHOWN = 100;

const isObject = (given: unknown): given is Json =>
  typeof given === 'object' && given !== null && !Array.isArray(given);
const isNamed = (type: unknown): boolean =>
  type === 'record' || type === 'error' || type === 'enum' || type === 'fixed';
const isPrimitive = (type: unknown): type is string => typeof type === 'string' && PRIMITIVES.has(type);

function shownSchema(given: unknown): string {
  const text = printable(typeof given === 'string' || typeof given === 'number' ? String(given) : typeof given);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/** A definition of a record, an enum or a fixed, and the namespace of the names in it. */
interface Definition {
  readonly schema: Json;
  readonly namespace: string;
}

/**
 * The type of a schema of Avro (specification 1.12, "Schema Declaration"). Aliases, defaults and documentation are left
 * out: the writer's schema is all that a value is read with. A name may be used before it is defined.
 *
 * @throws AvroSchemaError where it is none, or too large
 */
export function avroType(given: SchemaText): AvroType {
  try {
    return new SchemaReader().typeOf(given);
  } catch (error) {
    if (error instanceof AvroSchemaError) {
      throw new AvroSchemaError(`its schema ${given.id} is no Avro schema: ${error.message}`);
    }
    throw error;
  }
}

class SchemaReader {
  readonly #definitions = new Map<string, Definition>();
  readonly #types = new Map<string, AvroType>();
  #parts = 0;

  typeOf({ text, references }: SchemaText): AvroType {
    const others = new Set(references.map((reference) => reference.text));
    const schema = parsedSchema(text);
    for (const each of [...[...others].map(parsedSchema), schema]) {
      this.#define(each, '', 0);
    }
    this.#parts = 0;
    return this.#type(schema, '', 0);
  }

  /** Finds all definitions, as names may be used before them. */
  #define(schema: unknown, namespace: string, depth: number): void {
    this.#count(depth);
    if (Array.isArray(schema)) {
      for (const branch of schema) {
        this.#define(branch, namespace, depth + 1);
      }
      return;
    }
    if (!isObject(schema)) {
      return;
    }
    const inner = isNamed(schema['type']) ? this.#defineNamed(schema, namespace) : namespace;
    for (const part of [schema['type'], schema['items'], schema['values']]) {
      if (typeof part === 'object') {
        this.#define(part, inner, depth + 1);
      }
    }
    for (const field of listIn(schema, 'fields')) {
      this.#define(isObject(field) ? field['type'] : null, inner, depth + 1);
    }
  }

  /** @returns the namespace of the names within */
  #defineNamed(schema: Json, around: string): string {
    const { fullName, namespace } = fullNameOf(schema, around);
    if (this.#definitions.has(fullName)) {
      throw new AvroSchemaError(`it defines ${shownSchema(fullName)} twice`);
    }
    this.#definitions.set(fullName, { schema, namespace });
    return namespace;
  }

  #count(depth: number): void {
    this.#parts += 1;
    if (this.#parts > MOST_PARTS) {
      throw new AvroSchemaError(`it has more than ${MOST_PARTS} types and fields`);
    }
    if (depth > MOST_NESTED_TYPES) {
      throw new AvroSchemaError(`it has more than ${MOST_NESTED_TYPES} types within each other`);
    }
  }

  #type(schema: unknown, namespace: string, depth: number): AvroType {
    this.#count(depth);
    if (typeof schema === 'string') {
      return isPrimitive(schema) ? new AvroType(schema) : this.#named(schema, namespace, depth);
    }
    if (Array.isArray(schema)) {
      return this.#union(schema, namespace, depth);
    }
    if (!isObject(schema)) {
      throw new AvroSchemaError(`${shownSchema(schema)} is no type`);
    }
    const { type } = schema;
    if (isNamed(type)) {
      return this.#named(fullNameOf(schema, namespace).fullName, '', depth);
    }
    if (type === 'array' || type === 'map') {
      const items = this.#type(schema[type === 'array' ? 'items' : 'values'], namespace, depth + 1);
      return new AvroType(type, { items, ...(type === 'map' && { unit: 'json' }) });
    }
    return isPrimitive(type) ? logicalType(new AvroType(type), schema) : this.#type(type, namespace, depth + 1);
  }

  #union(branches: readonly unknown[], namespace: string, depth: number): AvroType {
    const types = branches.map((branch) => this.#type(branch, namespace, depth + 1));
    if (types.length === 0 || types.some(({ kind }) => kind === 'union')) {
      throw new AvroSchemaError('it has a union without branches, or within another one');
    }
    return new AvroType('union', { branches: types });
  }

  /** A type by its name, as a reference has it. */
  #named(name: string, namespace: string, depth: number): AvroType {
    const within = name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
    const fullName = this.#definitions.has(within) ? within : name;
    const definition = this.#definitions.get(fullName);
    if (definition === undefined) {
      throw new AvroSchemaError(`it has no definition of the type ${shownSchema(within)}`);
    }
    const known = this.#types.get(fullName);
    if (known !== undefined) {
      return known;
    }
    const { schema } = definition;
    if (schema['type'] === 'enum') {
      return this.#keep(fullName, new AvroType('enum', { symbols: symbolBytes(schema, fullName) }));
    }
    if (schema['type'] === 'fixed') {
      const size = schema['size'];
      if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
        throw new AvroSchemaError(`the fixed ${shownSchema(fullName)} has no size`);
      }
      return this.#keep(fullName, logicalType(new AvroType('fixed', { size }), schema));
    }
    return this.#record(fullName, definition, depth);
  }

  /** The type is known before its fields are, as they may refer to it. */
  #record(fullName: string, { schema, namespace }: Definition, depth: number): AvroType {
    const fields: AvroField[] = [];
    const record = this.#keep(fullName, new AvroType('record', { fields }));
    for (const field of listIn(schema, 'fields')) {
      if (!isObject(field) || typeof field['name'] !== 'string') {
        throw new AvroSchemaError(`a field of ${shownSchema(fullName)} has no name`);
      }
      const { name } = field;
      const json = Buffer.from(`${JSON.stringify(name)}:`, 'utf8');
      const type = this.#type(field['type'], namespace, depth + 1);
      fields.push({ name: String(name), json, type, hasDefault: Object.hasOwn(field, 'default') });
    }
    return this.#keep(fullName, logicalType(record, schema));
  }

  #keep(fullName: string, type: AvroType): AvroType {
    this.#types.set(fullName, type);
    return type;
  }
}

function parsedSchema(text: string): unknown {
  if (text.length > MOST_TEXT) {
    throw new AvroSchemaError(`its text has more than ${MOST_TEXT} characters`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new AvroSchemaError('its text is no JSON');
  }
}

/** A name with its namespace, and the namespace of the names within (specification, "Names"). */
function fullNameOf(schema: Json, around: string): { readonly fullName: string; readonly namespace: string } {
  const { name, namespace: own } = schema;
  if (typeof name !== 'string' || name === '') {
    throw new AvroSchemaError('it has a type without a name');
  }
  if (name.includes('.')) {
    return { fullName: name, namespace: name.slice(0, name.lastIndexOf('.')) };
  }
  const namespace = typeof own === 'string' ? own : around;
  return { fullName: namespace === '' ? name : `${namespace}.${name}`, namespace };
}

function listIn(schema: Json, name: string): readonly unknown[] {
  const list = schema[name];
  if (isNamed(schema['type']) && schema['type'] !== 'enum' && schema['type'] !== 'fixed' && !Array.isArray(list)) {
    throw new AvroSchemaError(`the record ${shownSchema(schema['name'])} has no ${name}`);
  }
  return Array.isArray(list) ? list : [];
}

/** More than the specification has, but nothing that JSON or COPY escapes. */
const SYMBOL = /^[^\p{Cc}\p{Cs}"\\]*$/u;

function symbolBytes({ symbols }: Json, fullName: string): readonly Buffer[] {
  if (!Array.isArray(symbols) || !symbols.every((symbol) => typeof symbol === 'string' && SYMBOL.test(symbol))) {
    throw new AvroSchemaError(`the enum ${shownSchema(fullName)} has no symbols, or others than letters`);
  }
  return symbols.map((symbol: string) => Buffer.from(symbol, 'utf8'));
}
