import type { OtherFields } from '../../tables/json/document-fields.ts';
import type { OnUnmapped } from '../../tables/json/field-tree.ts';
import type { FieldPath } from '../../tables/mapping/table-mapping.ts';

/** Names that are reported, and the characters of the longest one that is: as for JSON. */
const MOST_NAMES = 100;
const LONGEST_NAME = 128;

/** Reports the names of fields that nothing takes: each once, and `null` once for all that are too many or too long. */
export class UnmappedNames {
  readonly #report: OnUnmapped;
  readonly #known = new Set<string | null>();

  /** @param report @default never called */
  constructor(report: OnUnmapped = () => undefined) {
    this.#report = report;
  }

  /** Whether there are no more names to report. */
  get isFull(): boolean {
    return this.#known.has(null) && this.#known.size > MOST_NAMES;
  }

  add(name: string): void {
    if (this.#known.has(name)) {
      return;
    }
    const names = this.#known.size - Number(this.#known.has(null));
    const key = names < MOST_NAMES && Buffer.byteLength(name) <= LONGEST_NAME ? name : null;
    if (!this.#known.has(key)) {
      this.#known.add(key);
      this.#report(key);
    }
  }
}

/**
 * A part of a value that paths lead to or through, numbered by {@link PathTree.close}.
 *
 * @typeParam Type of a schema
 * @typeParam Step what is done with a value of one
 */
export interface PathNode<Type, Step> {
  readonly node: number;
  readonly names: Map<string, PathNode<Type, Step>>;
  readonly positions: Map<number, PathNode<Type, Step>>;
  /** Whether a path ends there, and whether one ends there or around it. */
  isTaken: boolean;
  isWithinTaken: boolean;
  isRow: boolean;
  /** Behind the last node below it. */
  lastBelow: number;
  /** What the part may be: the steps of the types that a schema has there. */
  readonly steps: Map<Type, Step>;
}

/** Paths as a tree whose nodes are numbered: those below a node follow it. */
class PathTree<Type, Step> {
  readonly root = pathNode<Type, Step>(0);
  size = 0;

  nodeOf(path: FieldPath): PathNode<Type, Step> {
    return path.reduce<PathNode<Type, Step>>(
      (from, part) => (typeof part === 'number' ? childNode(from.positions, part) : childNode(from.names, part)),
      this.root,
    );
  }

  /** Numbers the nodes, once all paths are in. */
  close(): void {
    this.#close(this.root, false);
  }

  #close(at: PathNode<Type, Step>, isWithinTaken: boolean): void {
    Object.assign(at, { node: this.size, isWithinTaken: at.isTaken || isWithinTaken });
    this.size += 1;
    for (const child of [...at.positions.values(), ...at.names.values()]) {
      this.#close(child, at.isWithinTaken);
    }
    at.lastBelow = this.size;
  }
}

const pathNode = <Type, Step>(node: number): PathNode<Type, Step> => ({
  node,
  names: new Map(),
  positions: new Map(),
  isTaken: false,
  isWithinTaken: false,
  isRow: false,
  lastBelow: 0,
  steps: new Map(),
});

function childNode<Key, Type, Step>(children: Map<Key, PathNode<Type, Step>>, key: Key): PathNode<Type, Step> {
  const child = children.get(key) ?? pathNode<Type, Step>(0);
  children.set(key, child);
  return child;
}

/** The paths of what is taken, as a tree. */
export interface TakenTree<Type, Step> {
  readonly root: PathNode<Type, Step>;
  /** Nodes in all. */
  readonly size: number;
  /** By place of a path. */
  readonly ends: readonly PathNode<Type, Step>[];
  /** By place of a path, its node. */
  readonly nodes: Int32Array;
  readonly ignoresUnmapped: boolean;
}

/**
 * @param paths of what is taken; a path of no parts is the whole value
 * @param others as {@link DocumentFields} has them
 */
export function takenTree<Type, Step>(paths: readonly FieldPath[], others: OtherFields): TakenTree<Type, Step> {
  const tree = new PathTree<Type, Step>();
  const all = [...paths, ...others.mapped].map((path) => tree.nodeOf(path));
  const ends = all.slice(0, paths.length);
  for (const end of ends) {
    end.isTaken = true;
  }
  tree.nodeOf(others.row ?? []).isRow = true;
  tree.close();
  return {
    ...{ root: tree.root, size: tree.size, ends, ignoresUnmapped: all.includes(tree.root) },
    nodes: Int32Array.from(ends, ({ node }) => node),
  };
}
