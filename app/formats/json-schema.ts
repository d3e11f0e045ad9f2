import { type SchemaUnits, unitOfSchema } from '../tables/json/connect-schema.ts';
import type { FieldPath, ValueUnit } from '../tables/mapping/table-mapping.ts';
import type { RegisteredSchema } from './registry/schemas.ts';

type Node = Readonly<Record<string, unknown>>;

/** Schemas that lead to each other, at most: they may lead in a circle. */
const MOST_STEPS = 32;

const isNode = (given: unknown): given is Node => typeof given === 'object' && given !== null && !Array.isArray(given);

/** A part of a schema, and the document that its references count from. */
interface Place {
  readonly node: Node;
  readonly document: Node;
}

/**
 * What a JSON Schema says of units, as Confluent's converter of Kafka Connect writes them: the name of a type as its
 * `title`, and what else belongs to it as `connect.parameters`. Documents are not validated against the schema, which
 * the producer has done.
 */
class JsonSchema {
  readonly #documents: ReadonlyMap<string, unknown>;

  constructor(documents: ReadonlyMap<string, unknown>) {
    this.#documents = documents;
  }

  unitAt(document: Node, path: FieldPath): ValueUnit | undefined {
    let at = this.#resolved({ node: document, document });
    for (const part of path) {
      const member = at && memberOf(at.node, part);
      at = member ? this.#resolved({ node: member, document: at?.document ?? document }) : null;
    }
    return at === null ? undefined : unitOfSchema(this.#asConnect(at));
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
  #next({ node, document }: Place): Place | null | undefined {
    if (typeof node['$ref'] === 'string') {
      return this.#referred(node['$ref'], document);
    }
    const choices = [node['oneOf'], node['anyOf'], node['allOf']].find(Array.isArray);
    if (choices === undefined) {
      return undefined;
    }
    const others = choices.filter((choice) => isNode(choice) && choice['type'] !== 'null');
    return others.length === 1 && isNode(others[0]) ? { node: others[0], document } : null;
  }

  /** A pointer within this document or another one (RFC 6901). */
  #referred(reference: string, document: Node): Place | null {
    const [name = '', pointer = ''] = reference.split('#');
    const root = name === '' ? document : this.#documents.get(name);
    let found: unknown = root;
    for (const part of pointer.split('/').slice(1)) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      found = isNode(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    return isNode(found) && isNode(root) ? { node: found, document: root } : null;
  }

  /** The same schema in the words of Kafka Connect's. */
  #asConnect({ node, document }: Place, depth = 0): Node {
    const items = node['items'];
    const item =
      node['type'] === 'array' && isNode(items) && depth < MOST_STEPS
        ? this.#resolved({ node: items, document })
        : null;
    return {
      type: isMap(node) ? 'map' : node['type'],
      name: node['title'],
      parameters: node['connect.parameters'],
      ...(item !== null && { items: this.#asConnect(item, depth + 1) }),
    };
  }
}

/** Objects whose names are no fields of the schema. */
const isMap = (node: Node): boolean =>
  node['connect.type'] === 'map' || (isNode(node['additionalProperties']) && !isNode(node['properties']));

function memberOf(node: Node, part: string | number): Node | null {
  const properties = node['properties'];
  const found =
    typeof part === 'number'
      ? node['items']
      : isNode(properties) && Object.hasOwn(properties, part)
        ? properties[part]
        : node['additionalProperties'];
  return isNode(found) ? found : null;
}

/**
 * What a JSON Schema says of the parts of its values at these paths.
 *
 * @throws SyntaxError where its text is no JSON
 */
export function unitsOfJsonSchema({ text, references }: RegisteredSchema, paths: readonly FieldPath[]): SchemaUnits {
  const document: unknown = JSON.parse(text);
  const documents = references.map(({ name, text: other }) => [name, JSON.parse(other) as unknown] as const);
  const schema = new JsonSchema(new Map(documents));
  return paths.map((path) => (isNode(document) ? schema.unitAt(document, path) : undefined));
}
