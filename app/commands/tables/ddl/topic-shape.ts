import { escapeLiteral } from 'pg';
import type { SchemaKind, SchemaOutline, SchemaPart } from '../../../formats/parts/schema-part.ts';
import { typeOfUnit } from '../../../formats/schema-sql-type.ts';
import { printable } from '../../../logging/printable-text.ts';
import { sqlName } from '../../../store/connection/sql-name.ts';
import { itemsOf, type JsonSlice, membersOf } from '../../../tables/json/json-slice.ts';
import type { FieldPath } from '../../../tables/mapping/table-mapping.ts';
import { type KnownValue, SeenValues } from './seen-values.ts';

/** What is known of the values, or of the keys, of a topic. */
export interface Shape {
  /** What that comes from, for a comment. */
  readonly basis: string;
  /** Whether records alone show it, and no schema says it. */
  readonly isGuess: boolean;
  /** Names of the fields at a path. */
  fields(path: FieldPath): readonly string[];
  /**
   * @param around the part of the path that is there whenever a column takes a value: that of the row
   * @returns `undefined` where nothing is known
   */
  at(path: FieldPath, around: FieldPath): KnownValue | undefined;
}

/** A shape of which nothing is known. */
export const unknownShape = (basis: string): Shape => ({
  basis: `REVIEW: ${basis}`,
  isGuess: true,
  fields: () => [],
  at: () => undefined,
});

/** What takes the values of a kind where the schema says no more. */
const BY_KIND: Readonly<Record<SchemaKind, string>> = {
  string: 'text',
  number: 'numeric',
  boolean: 'boolean',
  object: 'jsonb',
  list: 'jsonb',
  bytes: 'bytea',
};

function typeOfPart({ kinds, unit, sqlType }: SchemaPart): Pick<KnownValue, 'type' | 'guess'> {
  const type = sqlType ?? (unit && typeOfUnit(unit));
  if (type !== undefined) {
    return kinds.length > 1 ? { type, guess: `${kinds.join(' or ')}, by the schema` } : { type };
  }
  const [kind] = kinds;
  return kind !== undefined && kinds.length === 1
    ? { type: BY_KIND[kind], ...(kind === 'number' && { guess: 'numbers, by the schema' }) }
    : { type: 'jsonb', guess: 'the schema allows anything' };
}

/** A type would refuse what is added to an enum later, so the condition is offered alone. */
const symbolsNote = (symbols: readonly string[], path: FieldPath): string =>
  `CHECK (${sqlName(String(path.at(-1)))} IN (${symbols.map((symbol) => escapeLiteral(printable(symbol))).join(', ')})) takes no others`;

/** What a schema says. */
export function shapeOfSchema(outline: SchemaOutline, basis: string): Shape {
  const isAlwaysThere = (path: FieldPath): boolean => {
    const part = outline(path);
    return part !== undefined && !part.isNullable && part.isOptional !== true;
  };
  return {
    basis,
    isGuess: false,
    fields: (path) => outline(path)?.fields ?? [],
    at: (path, around) => {
      const part = outline(path);
      const steps = path.slice(around.length).map((_, nth) => path.slice(0, around.length + nth + 1));
      return (
        part && {
          ...typeOfPart(part),
          isNotNull: steps.every(isAlwaysThere),
          ...(part.symbols !== undefined && { note: symbolsNote(part.symbols, path) }),
        }
      );
    },
  };
}

/** What a table of PostgreSQL has columns for. */
const MOST_FIELDS = 1_600;

const partAt = (value: JsonSlice | undefined, part: string | number): JsonSlice | undefined => {
  if (typeof part === 'number') {
    return value?.kind === 'list' ? itemsOf(value)[part] : undefined;
  }
  return value?.kind === 'object' ? membersOf(value).get(part) : undefined;
};

const pathKey = (path: FieldPath): string => JSON.stringify(path);

/** The path as `columns` takes it, where it is one of names. */
const shownPath = (path: FieldPath): string => printable(path.join('.'));

/** What records show, one after the other. */
export class SeenShape implements Shape {
  basis = '';
  readonly isGuess = true;
  readonly #row: FieldPath;
  readonly #wanted: readonly FieldPath[];
  readonly #seen = new Map<string, SeenValues>();
  readonly #names: string[] = [];
  #rows = 0;

  /**
   * @param row path of the object whose fields are looked at
   * @param wanted paths of parts that are looked at, too
   */
  constructor(row: FieldPath, wanted: readonly FieldPath[]) {
    this.#row = row;
    this.#wanted = wanted;
  }

  /** Takes one value. */
  add(value: JsonSlice): void {
    const row = this.#row.reduce<JsonSlice | undefined>(partAt, value);
    if (row === undefined || row.kind === 'null') {
      return;
    }
    this.#rows += 1;
    for (const [name, member] of row.kind === 'object' ? membersOf(row) : []) {
      this.#addField(name, member);
    }
    for (const path of this.#wanted) {
      const part = path.reduce<JsonSlice | undefined>(partAt, value);
      if (part !== undefined) {
        this.#at(path).add(part);
      }
    }
  }

  fields(path: FieldPath): readonly string[] {
    return pathKey(path) === pathKey(this.#row) ? this.#names : [];
  }

  at(path: FieldPath): KnownValue | undefined {
    return this.#seen.get(pathKey(path))?.known(this.#rows, shownPath(path.slice(this.#row.length)));
  }

  #addField(name: string, value: JsonSlice): void {
    const path = [...this.#row, name];
    if (!this.#names.includes(name) && this.#names.length < MOST_FIELDS) {
      this.#names.push(name);
    }
    const isWanted = this.#wanted.some((each) => pathKey(each) === pathKey(path));
    if (!isWanted && this.#names.includes(name)) {
      this.#at(path).add(value);
    }
  }

  #at(path: FieldPath): SeenValues {
    const key = pathKey(path);
    const seen = this.#seen.get(key) ?? new SeenValues();
    this.#seen.set(key, seen);
    return seen;
  }
}
