import type { FieldPath } from '../mapping/table-mapping.ts';
import { unescaped } from './json-lexer.ts';

/** The node of the whole document. */
export const ROOT = 0;
/** No path goes there. */
export const NO_NODE = -1;
/** A field of the row that no path goes to, and whose name is known. */
const UNMAPPED = -2;

/** Unmapped names that are kept, and the bytes of the longest one that is. */
const MOST_UNMAPPED = 100;
const LONGEST_UNMAPPED = 128;

/** Called with the name of a field of the row that no path begins with, or `null` for one that is not kept. */
export type OnUnmapped = (name: string | null) => void;

interface Branch {
  readonly names: Map<string, Branch>;
  readonly positions: Map<number, Branch>;
  readonly paths: number[];
}

const branch = (): Branch => ({ names: new Map(), positions: new Map(), paths: [] });

function childOf<Key>(children: Map<Key, Branch>, key: Key): Branch {
  const child = children.get(key) ?? branch();
  children.set(key, child);
  return child;
}

function branchesOf(paths: readonly FieldPath[]): Branch {
  const root = branch();
  for (const [index, path] of paths.entries()) {
    const last = path.reduce<Branch>(
      (from, part) => (typeof part === 'number' ? childOf(from.positions, part) : childOf(from.names, part)),
      root,
    );
    last.paths.push(index);
  }
  return root;
}

/** A name in an object, and the node that it leads to. */
interface Name {
  readonly parent: number;
  readonly bytes: Buffer;
  readonly node: number;
  /**
   * What was found after it last: where documents have their fields in one order, nothing is looked up in the table.
   */
  next: Name | null;
}

/**
 * Paths as a tree whose nodes are numbered: the nodes below one follow it. Names are looked up by their bytes in one
 * table, so that no string is made of them.
 */
export class FieldTree {
  /** Of each path, its node. */
  readonly nodes: Int32Array;
  /** Behind the last node below each. */
  readonly lastBelow: number[] = [];
  readonly #hasNames: boolean[] = [];
  readonly #positions: ReadonlyMap<number, number>[] = [];
  readonly #names: Name[] = [];
  /** The name that was found last; at first none of any object. */
  #last: Name = { parent: NO_NODE, bytes: Buffer.alloc(0), node: NO_NODE, next: null };
  /** Indexes of {@link #names} plus 1, by hash; 0 is free. More than half is, as names that are not there are usual. */
  readonly #slots: Int32Array;
  /** The node of the object whose fields are the row's. */
  readonly row: number;
  readonly #ignoresUnmapped: boolean;
  readonly #onUnmapped: OnUnmapped;
  /** Of the document: the fields that no path goes to, and starts and ends of names of theirs that may be new. */
  #unmappedFields = 0;
  #newNames: number[] = [];
  /** Names that are kept. */
  #unmapped = 0;
  /** Whether a name was not kept. */
  #hasMore = false;

  /**
   * @param onUnmapped as {@link JsonScanner} has it. @default never called
   * @param row path of the object whose fields are the row's. @default the whole document
   */
  constructor(paths: readonly FieldPath[], onUnmapped: OnUnmapped = () => undefined, row: FieldPath = []) {
    this.#onUnmapped = onUnmapped;
    this.nodes = new Int32Array(paths.length + 1);
    const root = branchesOf([...paths, row]);
    this.#ignoresUnmapped = root.paths.some((path) => path < paths.length);
    this.#number(root);
    this.row = this.nodes[paths.length] ?? ROOT;
    this.#slots = new Int32Array(4 << Math.ceil(Math.log2(this.#names.length + MOST_UNMAPPED)));
    this.#names.forEach((name, index) => {
      this.#enter(name, index);
    });
  }

  /** Nodes in all. */
  get size(): number {
    return this.lastBelow.length;
  }

  /** Whether names in an object of the node have to be looked up. */
  hasNames(node: number): boolean {
    return node >= 0 && (this.#hasNames[node] ?? false);
  }

  /** The node of a name's bytes in an object of a node; negative without one. */
  named(parent: number, bytes: Buffer, start: number, end: number): number {
    const expected = this.#last.next;
    if (expected !== null && expected.parent === parent && isEqual(expected.bytes, bytes, start, end)) {
      this.#last = expected;
      return expected.node;
    }
    const mask = this.#slots.length - 1;
    let slot = hash(parent, bytes, start, end) & mask;
    for (;;) {
      const place = this.#slots[slot] ?? 0;
      // Not read at -1 where the slot is free: that costs as much as all the rest.
      const name = place === 0 ? undefined : this.#names[place - 1];
      if (name === undefined) {
        return NO_NODE;
      }
      if (name.parent === parent && isEqual(name.bytes, bytes, start, end)) {
        this.#last.next = name;
        this.#last = name;
        return name.node;
      }
      slot = (slot + 1) & mask;
    }
  }

  /** The node of a position in a list of a node; negative without one. */
  at(parent: number, position: number): number {
    return this.#positions[parent]?.get(position) ?? NO_NODE;
  }

  /** Fields of the row that no path goes to; 0 where the whole document is wanted. */
  get unmappedFields(): number {
    return this.#unmappedFields;
  }

  /** Before the next document. */
  forgetUnmapped(): void {
    this.#unmappedFields = 0;
    if (this.#newNames.length > 0) {
      this.#newNames = [];
    }
  }

  /** A field of the row that no path goes to. @param child what {@link named} has answered about its name */
  addUnmapped(child: number, start: number, end: number): void {
    if (this.#ignoresUnmapped) {
      return;
    }
    this.#unmappedFields += 1;
    const mayBeKept = this.#unmapped < MOST_UNMAPPED && end - start - 2 <= LONGEST_UNMAPPED;
    if (child === NO_NODE && (!this.#hasMore || mayBeKept)) {
      this.#newNames.push(start, end);
    }
  }

  /** Keeps the new names of a document that is known to be valid, and reports them. */
  keepUnmapped(json: Buffer): void {
    for (let index = 0; index < this.#newNames.length; index += 2) {
      const name = unescaped(json, this.#newNames[index] ?? 0, this.#newNames[index + 1] ?? 0);
      const isNew = this.#keep(name);
      if (isNew !== false) {
        this.#onUnmapped(isNew === null ? null : name.toString('utf8'));
      }
    }
  }

  /**
   * Keeps an unmapped name, with its memory, unless it is too long or there are enough.
   *
   * @returns whether it is new; `null` for the first one that was not kept
   */
  #keep(bytes: Buffer): boolean | null {
    if (this.named(this.row, bytes, 0, bytes.length) !== NO_NODE) {
      return false;
    }
    if (this.#unmapped >= MOST_UNMAPPED || bytes.length > LONGEST_UNMAPPED) {
      const isFirst = !this.#hasMore;
      this.#hasMore = true;
      return isFirst ? null : false;
    }
    const name = { parent: this.row, bytes, node: UNMAPPED, next: null };
    this.#enter(name, this.#names.push(name) - 1);
    this.#unmapped += 1;
    return true;
  }

  #number({ names, positions, paths }: Branch): number {
    const node = this.lastBelow.push(0) - 1;
    for (const path of paths) {
      this.nodes[path] = node;
    }
    const ownPositions = new Map<number, number>();
    this.#positions[node] = ownPositions;
    const isRow = paths.includes(this.nodes.length - 1);
    this.#hasNames[node] = names.size > 0 || (isRow && !this.#ignoresUnmapped);
    for (const [position, child] of positions) {
      ownPositions.set(position, this.#number(child));
    }
    for (const [name, child] of names) {
      this.#names.push({ parent: node, bytes: Buffer.from(name, 'utf8'), node: this.#number(child), next: null });
    }
    this.lastBelow[node] = this.lastBelow.length;
    return node;
  }

  #enter({ parent, bytes }: Name, index: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash(parent, bytes, 0, bytes.length) & mask;
    while (this.#slots[slot] !== 0) {
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = index + 1;
  }
}

/** Of three bytes and the length: it is cheaper to compare names that have the same than to read all of all names. */
function hash(parent: number, bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length === 0) {
    return parent;
  }
  const sum =
    (bytes[start] ?? 0) + (bytes[start + (length >> 1)] ?? 0) * 31 + (bytes[end - 1] ?? 0) * 961 + length * 29_791;
  return Math.imul(sum + parent * 923_521, 0x9e3779b1) >>> 12;
}

/** Whether a name is the bytes from `start` up to `end`; a loop, as a call of compare() costs more. */
export function isEqual(name: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const { length } = name;
  if (length !== end - start) {
    return false;
  }
  for (let index = 0; index < length; index += 1) {
    if (name[index] !== bytes[start + index]) {
      return false;
    }
  }
  return true;
}
