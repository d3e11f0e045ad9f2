import { MOST_DIMENSIONS, type SchemaUnits } from '../../tables/json/connect-schema.ts';
import type { OtherFields } from '../../tables/json/document-fields.ts';
import { NO_NODE } from '../../tables/json/field-tree.ts';
import type { FieldPath, ValueUnit } from '../../tables/mapping/table-mapping.ts';
import { type PathNode, takenTree, UnmappedNames } from '../parts/path-tree.ts';
import { avroType, type SchemaText } from './avro-schema.ts';
import type { AvroType } from './avro-type.ts';

/** What is done with a value of a type that paths lead to or through. */
export interface Step {
  readonly type: AvroType;
  /** {@link NO_NODE} where no path ends. */
  readonly node: number;
  /** Whether what paths do not lead to is within a part that one takes. */
  readonly isPart: boolean;
  /** Of a record, by field; `null` where no path leads. */
  readonly fields: readonly (Step | null)[];
  /** Of a union, by branch. */
  readonly branches: readonly Step[];
  /** Of an array, by position. */
  readonly positions: ReadonlyMap<number, Step> | null;
  /** Of a map, by key. */
  readonly entries: readonly Entry[];
  /** Whether its fields are the row's. */
  readonly isRow: boolean;
  /** Fields of the row that no path begins with. */
  readonly unmapped: readonly string[];
}

/** An entry of a map that a path leads to; of equal keys the last counts. */
export interface Entry {
  readonly key: Buffer;
  readonly step: Step;
  /** The first and behind the last node that an earlier entry may have filled. */
  readonly firstNode: number;
  readonly lastBelow: number;
}

type Node = PathNode<AvroType, Step>;

/** The unit of all values of a type that are not null; of a list that of its items. */
export function unitOfType(type: AvroType, depth = 0): ValueUnit | undefined {
  if (type.kind === 'array') {
    return depth < MOST_DIMENSIONS ? unitOfType(type.items, depth + 1) : undefined;
  }
  if (type.kind !== 'union') {
    return type.unit;
  }
  const [first, ...others] = new Set(
    type.branches.flatMap((branch) => (branch.kind === 'null' ? [] : [unitOfType(branch, depth)])),
  );
  return others.length === 0 ? first : undefined;
}

/** A schema compiled for the parts that a table takes: all else is passed over without being read. */
export class AvroProgram {
  readonly id: number | string;
  readonly root: Step;
  /** By place of a path, its node. */
  readonly nodes: Int32Array;
  /** Nodes in all. */
  readonly size: number;
  readonly names: UnmappedNames;
  /** What the schema says of the parts, by the places of their paths; `null` where it depends on the value. */
  readonly units: SchemaUnits | null;
  readonly #ignoresUnmapped: boolean;

  /**
   * @param paths of what is taken; a path of no parts is the whole value
   * @param others as {@link DocumentFields} has them. @default all count as taken
   * @throws AvroSchemaError where the schema is none
   */
  constructor(schema: SchemaText, paths: readonly FieldPath[], others: OtherFields = { mapped: [[]] }) {
    const tree = takenTree<AvroType, Step>(paths, others);
    this.#ignoresUnmapped = tree.ignoresUnmapped;
    this.id = schema.id;
    this.nodes = tree.nodes;
    this.size = tree.size;
    this.names = new UnmappedNames(others.onUnmapped);
    this.root = this.#step(avroType(schema), tree.root);
    const units = tree.ends.map(unitsOfNode);
    this.units = units.some((each) => each.length > 1) ? null : units.map(([unit]) => unit);
  }

  #step(given: AvroType, at: Node): Step {
    const type = at.names.size > 0 ? given.record : given;
    const known = at.steps.get(type);
    if (known !== undefined) {
      return known;
    }
    const isRow = at.isRow && !this.#ignoresUnmapped;
    const step: Step = {
      type,
      node: at.isTaken ? at.node : NO_NODE,
      isPart: at.isWithinTaken,
      fields: type.fields.map((field) => this.#below(field.type, at.names.get(field.name))),
      branches: type.branches.map((branch) => this.#step(branch, at)),
      positions: type.kind === 'array' && at.positions.size > 0 ? this.#positions(type, at) : null,
      entries: type.kind === 'map' ? [...at.names].map(([key, child]) => this.#entry(type, key, child)) : [],
      isRow,
      unmapped: isRow ? type.fields.flatMap(({ name }) => (at.names.has(name) ? [] : name)) : [],
    };
    at.steps.set(type, step);
    return step;
  }

  #below(type: AvroType, at: Node | undefined): Step | null {
    return at === undefined ? null : this.#step(type, at);
  }

  #positions({ items }: AvroType, { positions }: Node): ReadonlyMap<number, Step> {
    return new Map([...positions].map(([position, child]) => [position, this.#step(items, child)]));
  }

  #entry({ items }: AvroType, key: string, child: Node): Entry {
    const { node: firstNode, lastBelow } = child;
    return { key: Buffer.from(key, 'utf8'), step: this.#step(items, child), firstNode, lastBelow };
  }
}

/** Units that the values at a node may have. */
function unitsOfNode({ steps }: Node): (ValueUnit | undefined)[] {
  const types = [...steps.keys()].filter(({ kind }) => kind !== 'union' && kind !== 'null');
  return [...new Set(types.map((type) => unitOfType(type)))];
}
