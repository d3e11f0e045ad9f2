import type { SchemaUnits } from '../../tables/json/connect-schema.ts';
import type { OtherFields } from '../../tables/json/document-fields.ts';
import { NO_NODE } from '../../tables/json/field-tree.ts';
import type { FieldPath, ValueUnit } from '../../tables/mapping/table-mapping.ts';
import { type PathNode, takenTree, UnmappedNames } from '../parts/path-tree.ts';
import { type MessageType, ProtoField } from './proto-type.ts';

type FieldNode = PathNode<ProtoField, ValueStep>;

/** Nodes from the first up to the last below it: what a later value of its field replaces. */
interface NodeRange {
  readonly node: number;
  /** Behind the last node. */
  readonly lastBelow: number;
}

/** What is done with a value of a field, or an item of a list, that paths lead to or through. */
export interface ValueStep extends NodeRange {
  /** Of an item of a list or a map what it would be alone. */
  readonly field: ProtoField;
  /** Whether a path ends there. */
  readonly isTaken: boolean;
  /** Whether it is written as JSON, once all its pieces are known. */
  readonly isPart: boolean;
  /** Of a message that paths lead through. */
  readonly below: MessageStep | null;
  /** Of a list, by position. */
  readonly positions: ReadonlyMap<number, ValueStep> | null;
  /** Of a map. */
  readonly entries: readonly FieldEntry[];
  /** Of a field in a oneof the others that paths lead to: of all of them the last value counts. */
  readonly rivals: readonly NodeRange[];
}

/** An entry of a map that a path leads to; of equal keys the last counts. */
export interface FieldEntry {
  readonly name: string;
  readonly key: Buffer;
  readonly step: ValueStep;
}

/** What is done with the fields of a message. */
export interface MessageStep {
  readonly type: MessageType;
  /** By place; `null` where no path leads. */
  readonly fields: readonly (ValueStep | null)[];
  /** Fields that are something when they are absent. */
  readonly zeros: readonly ValueStep[];
  readonly isRow: boolean;
  /** Fields of the row that no path begins with. */
  readonly unmapped: readonly string[];
}

const NOWHERE: NodeRange = { node: NO_NODE, lastBelow: NO_NODE };

/** The message of a value as the field of another one. */
export const fieldOf = (message: MessageType): ProtoField =>
  new ProtoField({ name: '', number: 0, kind: 'message', message, hasPresence: true, isRequired: true });

/** The field of one item of a list or of one value of a map; `null` where the field is single. */
export function itemOf(field: ProtoField): ProtoField | null {
  return field.shape === 'map'
    ? (field.message?.fields[1] ?? null)
    : field.shape === 'list'
      ? singleField(field)
      : null;
}

const singleField = ({ name, number, place, kind, message, symbols }: ProtoField): ProtoField =>
  new ProtoField({ name, number, place, kind, message, symbols, hasPresence: kind === 'message' });

/** What a schema says of the values of a field: objects whose names are no fields are JSON, or hstore. */
export const unitOfField = ({ shape, message }: ProtoField): ValueUnit | undefined =>
  shape === 'map' || (shape === 'single' && message?.wellKnown === 'struct') ? 'json' : undefined;

/** A message compiled for the parts that a table takes: all else is passed over. */
export class ProtoProgram {
  readonly id: number | string;
  readonly root: ValueStep;
  /** By place of a path, its node. */
  readonly nodes: Int32Array;
  /** Nodes in all. */
  readonly size: number;
  readonly names: UnmappedNames;
  /** What the schema says of the parts, by the places of their paths. */
  readonly units: SchemaUnits;
  readonly #ignoresUnmapped: boolean;

  /**
   * @param id of the schema, for words
   * @param paths of what is taken; a path of no parts is the whole value
   * @param others as {@link DocumentFields} has them. @default all count as taken
   */
  constructor(
    id: number | string,
    message: MessageType,
    paths: readonly FieldPath[],
    others: OtherFields = { mapped: [[]] },
  ) {
    const tree = takenTree<ProtoField, ValueStep>(paths, others);
    this.#ignoresUnmapped = tree.ignoresUnmapped;
    this.id = id;
    this.nodes = tree.nodes;
    this.size = tree.size;
    this.names = new UnmappedNames(others.onUnmapped);
    this.root = this.#root(message, tree.root);
    this.units = tree.ends.map(({ steps }) => [...steps.keys()].map(unitOfField)[0]);
  }

  /** A value that nothing takes is read, too: its bytes have to be some of a message. */
  #root(message: MessageType, at: FieldNode): ValueStep {
    const step = this.#step(fieldOf(message), at, []);
    return step.isPart || step.below !== null ? step : { ...step, below: this.#message(message, at) };
  }

  #step(field: ProtoField, at: FieldNode, rivals: readonly NodeRange[]): ValueStep {
    const item = itemOf(field);
    const isPart = at.isTaken && (item !== null || field.message !== null);
    const leadsOn = at.names.size > 0 || (at.isRow && !at.isTaken);
    const step: ValueStep = {
      ...{ node: at.node, lastBelow: at.lastBelow, field, isTaken: at.isTaken, isPart, rivals },
      below: item === null && field.message !== null && leadsOn ? this.#message(field.message, at) : null,
      positions: field.shape === 'list' && item !== null && at.positions.size > 0 ? this.#positions(item, at) : null,
      entries: field.shape === 'map' && item !== null ? this.#entries(item, at) : [],
    };
    at.steps.set(field, step);
    return step;
  }

  #positions(item: ProtoField, { positions }: FieldNode): ReadonlyMap<number, ValueStep> {
    return new Map([...positions].map(([position, child]) => [position, this.#step(item, child, [])]));
  }

  #entries(item: ProtoField, { names }: FieldNode): readonly FieldEntry[] {
    return [...names].map(([name, child]) => ({
      ...{ name, key: Buffer.from(name, 'utf8'), step: this.#step(item, child, []) },
    }));
  }

  #message(type: MessageType, at: FieldNode): MessageStep {
    const rangeOf = (place: number): NodeRange => at.names.get(type.fields[place]?.name ?? '') ?? NOWHERE;
    const fields = type.fields.map((field): ValueStep | null => {
      const child = at.names.get(field.name);
      const rivals = field.rivals.map(rangeOf).filter(({ node }) => node !== NO_NODE);
      return child !== undefined ? this.#step(field, child, rivals) : rivals.length > 0 ? passed(field, rivals) : null;
    });
    const isRow = at.isRow && !this.#ignoresUnmapped;
    return {
      ...{ type, fields, isRow },
      zeros: fields.flatMap((step) => (step?.isTaken && !step.field.hasPresence ? step : [])),
      unmapped: isRow ? type.fields.flatMap(({ name }) => (at.names.has(name) ? [] : name)) : [],
    };
  }
}

/** A field that no path leads to, and whose values are in the place of those of others. */
const passed = (field: ProtoField, rivals: readonly NodeRange[]): ValueStep => ({
  ...{ ...NOWHERE, field, isTaken: false, isPart: false, below: null, positions: null, entries: [] },
  rivals,
});
