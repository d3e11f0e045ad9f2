import { parameterOf, type SchemaUnits, unitOfSchema } from '../tables/json/connect-schema.ts';
import type { FieldPath, ValueUnit } from '../tables/mapping/table-mapping.ts';
import type { SchemaKind, SchemaOutline, SchemaPart } from './parts/schema-part.ts';
import type { RegisteredSchema } from './registry/schemas.ts';
import { schemaSqlType, typeOfUnit, widestType } from './schema-sql-type.ts';

type SchemaNode = Readonly<Record<string, unknown>>;

/** Schemas that lead to each other, at most: they may lead in a circle. */
const MOST_STEPS = 32;
/**
 * Choices that are looked at, as null is one of two, and parts of a pointer: each path looks at them in each step, and
 * a schema may be hostile.
 */
const MOST_CHOICES = 100;
const MOST_POINTER_PARTS = 100;

const isNode = (given: unknown): given is SchemaNode =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

/** A part of a schema, and the document that its references count from. */
interface Place {
  readonly node: SchemaNode;
  readonly document: SchemaNode;
  /** Whether a choice on the way to it has null. */
  readonly isNullable: boolean;
}

/**
 * What a JSON Schema says of units, as Confluent's converter of Kafka Connect writes them: the name of a type as its
 * `title`, and what else belongs to it as `connect.parameters`. Documents are not validated against the schema, which
 * the producer has done.
 */
class JsonSchema {
  readonly #root: unknown;
  /** By the names that they are referred to. */
  readonly #documents: ReadonlyMap<string, unknown>;

  /** @throws SyntaxError where its text is no JSON */
  constructor({ text, references }: RegisteredSchema) {
    this.#root = JSON.parse(text);
    this.#documents = new Map(references.map((other) => [other.name, JSON.parse(other.text) as unknown]));
  }

  unitAt(path: FieldPath): ValueUnit | undefined {
    const found = this.#at(path);
    return found === null ? undefined : this.#unitOf(found);
  }

  /** What {@link SchemaOutline} is. */
  partAt(path: FieldPath): SchemaPart | undefined {
    const found = this.#at(path);
    if (found === null) {
      return undefined;
    }
    const { type, properties } = found.node;
    const kinds = [type].flat().flatMap((name) => KINDS.get(name) ?? []);
    const unit = this.#unitOf(found);
    return {
      kinds: kinds.filter((kind) => kind !== 'null'),
      isNullable: found.isNullable || kinds.includes('null'),
      isOptional: !this.#isRequired(path),
      unit,
      sqlType: sqlTypeOfNode(found.node, unit),
      symbols: enumValues(found.node),
      fields: isNode(properties) ? Object.keys(properties) : [],
    };
  }

  /** Whether what is around the part has to have it. */
  #isRequired(path: FieldPath): boolean {
    const name = path.at(-1);
    const around = name === undefined ? null : this.#at(path.slice(0, -1));
    return name === undefined || (Array.isArray(around?.node['required']) && around.node['required'].includes(name));
  }

  #unitOf(place: Place): ValueUnit | undefined {
    return unitOfSchema(this.#asConnect(place));
  }

  #at(path: FieldPath): Place | null {
    let at = isNode(this.#root) ? this.#resolved({ node: this.#root, document: this.#root, isNullable: false }) : null;
    for (const part of path) {
      const member = at && memberNode(at.node, part);
      at = at && member && this.#resolved({ node: member, document: at.document, isNullable: false });
    }
    return at;
  }

  /** What is behind references and behind a choice between null and one other schema. */
  #resolved(from: Place): Place | null {
    let at: Place | null = from;
    for (let steps = 0; at !== null && steps < MOST_STEPS; steps += 1) {
      const next: Place | null | undefined = this.#next(at);
      if (next === undefined) {
        return at;
      }
      at = next;
    }
    return null;
  }

  /** @returns `undefined` where the place leads nowhere else */
  #next(place: Place): Place | null | undefined {
    const { node } = place;
    if (typeof node['$ref'] === 'string') {
      return this.#referred(node['$ref'], place);
    }
    const choices = [node['oneOf'], node['anyOf'], node['allOf']].find(Array.isArray);
    if (choices === undefined) {
      return undefined;
    }
    if (choices.length > MOST_CHOICES) {
      return null;
    }
    const others = choices.filter((choice) => isNode(choice) && choice['type'] !== 'null');
    const isNullable = place.isNullable || others.length < choices.length;
    return others.length === 1 && isNode(others[0]) ? { ...place, node: others[0], isNullable } : null;
  }

  /** A pointer within this document or another one (RFC 6901). */
  #referred(reference: string, { document, isNullable }: Place): Place | null {
    const [name = '', pointer = ''] = reference.split('#');
    const root = name === '' ? document : this.#documents.get(name);
    const keys = keysOf(pointer);
    const found = keys?.reduce<unknown>(
      (from, key) => (isNode(from) && Object.hasOwn(from, key) ? from[key] : undefined),
      root,
    );
    return isNode(found) && isNode(root) ? { node: found, document: root, isNullable } : null;
  }

  /** The same schema in the words of Kafka Connect's. */
  #asConnect(place: Place, depth = 0): SchemaNode {
    const { node } = place;
    const items = node['items'];
    const item =
      node['type'] === 'array' && isNode(items) && depth < MOST_STEPS
        ? this.#resolved({ ...place, node: items })
        : null;
    return {
      type: isMap(node) ? 'map' : node['type'],
      name: node['title'],
      parameters: node['connect.parameters'],
      ...(item !== null && { items: this.#asConnect(item, depth + 1) }),
    };
  }
}

/** The keys of a pointer, or `null` where it is none. */
function keysOf(pointer: string): readonly string[] | null {
  const [, ...parts] = pointer.split('/', MOST_POINTER_PARTS + 2);
  try {
    const keys = parts.map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
    return keys.length > MOST_POINTER_PARTS ? null : keys;
  } catch {
    // A percent sign that escapes nothing.
    return null;
  }
}

/** Objects whose names are no fields of the schema. */
const isMap = (node: SchemaNode): boolean =>
  node['connect.type'] === 'map' || (isNode(node['additionalProperties']) && !isNode(node['properties']));

function memberNode(node: SchemaNode, part: string | number): SchemaNode | null {
  const properties = node['properties'];
  const found =
    typeof part === 'number'
      ? node['items']
      : isNode(properties) && Object.hasOwn(properties, part)
        ? properties[part]
        : node['additionalProperties'];
  return isNode(found) ? found : null;
}

/** By the word of `type`, or of `connect.type`, which says more: what takes the values. */
const SQL_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['string', 'text'],
  ['integer', 'bigint'],
  ['number', 'numeric'],
  ['boolean', 'boolean'],
  ['object', 'jsonb'],
  ['array', 'jsonb'],
  ['int8', 'smallint'],
  ['int16', 'smallint'],
  ['int32', 'integer'],
  ['int64', 'bigint'],
  ['float32', 'real'],
  ['float64', 'double precision'],
  ['bytes', 'bytea'],
]);

function sqlTypeOfNode(node: SchemaNode, unit: ValueUnit | undefined): string | undefined {
  const { type, title, format } = node;
  const plain =
    SQL_TYPES.get(node['connect.type']) ?? widestType([type].flat().flatMap((name) => SQL_TYPES.get(name) ?? []));
  const parameters = node['connect.parameters'];
  const scale = parameterOf(parameters, 'scale');
  const precision = parameterOf(parameters, 'connect.decimal.precision');
  if ([type].flat().includes('array')) {
    const item = unit === undefined || unit === 'json' ? undefined : typeOfUnit(unit);
    return item === undefined ? plain : `${item}[]`;
  }
  return plain && schemaSqlType({ names: [title, format], unit, precision, scale }, plain);
}

const enumValues = ({ enum: symbols }: SchemaNode): readonly string[] | undefined =>
  Array.isArray(symbols) && symbols.every((symbol) => typeof symbol === 'string') ? symbols : undefined;

/** By the word of `type`. */
const KINDS: ReadonlyMap<unknown, SchemaKind | 'null'> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['object', 'object'],
  ['array', 'list'],
  ['null', 'null'],
]);

/**
 * What a JSON Schema says of the parts of its values at these paths.
 *
 * @throws SyntaxError where its text is no JSON
 */
export function unitsOfJsonSchema(given: RegisteredSchema, paths: readonly FieldPath[]): SchemaUnits {
  const schema = new JsonSchema(given);
  return paths.map((path) => schema.unitAt(path));
}

/**
 * The outline of a JSON Schema.
 *
 * @throws SyntaxError where its text is no JSON
 */
export function outlineOfJsonSchema(given: RegisteredSchema): SchemaOutline {
  const schema = new JsonSchema(given);
  return (path) => schema.partAt(path);
}
