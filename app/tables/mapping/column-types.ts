import type { ColumnType } from './table-mapping.ts';

/** A type as the catalog has it. */
export interface TypeRow {
  readonly oid: number;
  readonly name: string;
  /** Its name in pg_catalog, else that of an extension's type that is known by its name alone. */
  readonly known: string;
  readonly base: number;
  readonly element: number;
  readonly delimiter: string;
  /** Of a type that is not made of others. */
  readonly notLess: string | null;
  readonly attributes: readonly { readonly name: string; readonly type: number; readonly typeName: string }[] | null;
  readonly isNotNull: boolean;
  readonly hasDefault: boolean;
  /** Whether a column of the domain may refuse NULL, by itself. */
  readonly refusesNull: boolean;
  /** What a domain is made of, with its modifier, as SQL. */
  readonly sqlBase: string | null;
  readonly defaultExpression: string | null;
  readonly isUsable: boolean;
}

/** A column's type with the modifier and the schema, and its default, as SQL. */
interface ColumnDefault {
  readonly sqlType: string;
  readonly defaultExpression: string | null;
}

/** Types of pg_catalog, and of the extension citext, by the kind that the text of their values has. */
export const KIND_BY_TYPE: Readonly<Record<string, Exclude<ColumnType['kind'], 'array' | 'composite'>>> = {
  bool: 'boolean',
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'numeric',
  float4: 'float',
  float8: 'float',
  text: 'text',
  varchar: 'text',
  bpchar: 'text',
  name: 'text',
  char: 'text',
  citext: 'text',
  json: 'json',
  jsonb: 'json',
  bytea: 'bytea',
  date: 'date',
  time: 'time',
  timetz: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
  interval: 'interval',
};

/** Types of the server's own whose input functions refuse everything. */
const WITHOUT_INPUT: ReadonlySet<string> = new Set([
  'gtsvector',
  'pg_brin_bloom_summary',
  'pg_brin_minmax_multi_summary',
  'pg_dependencies',
  'pg_mcv_list',
  'pg_ndistinct',
  'pg_node_tree',
]);

/** The types of a table's columns, out of the rows that the catalog has of them. */
export class Types {
  readonly #byOid: ReadonlyMap<number, TypeRow>;

  constructor(rows: readonly TypeRow[]) {
    this.#byOid = new Map(rows.map((row) => [row.oid, row]));
  }

  /** @param name with the modifier, such as `numeric(10,2)`, where it has one */
  type(oid: number, name: string): ColumnType {
    const domain = this.#domains(oid).at(-1);
    const row = this.#row(domain?.base || oid);
    if (row.element !== 0) {
      const element = this.#row(row.element);
      return { kind: 'array', name, element: this.type(element.oid, element.name), delimiter: element.delimiter };
    }
    return row.attributes === null
      ? { kind: KIND_BY_TYPE[row.known] ?? 'other', name, ...(domain?.sqlBase && { base: domain.sqlBase }) }
      : {
          kind: 'composite',
          name,
          attributes: row.attributes.map((each) => ({ name: each.name, type: this.type(each.type, each.typeName) })),
        };
  }

  withoutInput(oid: number): string | null {
    const { name, known, base, element, attributes } = this.#row(oid);
    if (WITHOUT_INPUT.has(known)) {
      return name;
    }
    const parts = [base, element, ...(attributes ?? []).map(({ type }) => type)].filter((part) => part !== 0);
    return parts.map((part) => this.withoutInput(part)).find((found) => found !== null) ?? null;
  }

  /** Elements and attributes decide for what is made of them. */
  notLess(oid: number): string | null {
    const { base, element, attributes, notLess } = this.#row(oid);
    if (base !== 0) {
      return this.notLess(base);
    }
    const parts = element !== 0 ? [element] : attributes?.map(({ type }) => type);
    return parts === undefined || parts.some((part) => this.notLess(part) === null)
      ? notLess
      : 'OPERATOR(pg_catalog.>=)';
  }

  isNotNull = (oid: number): boolean => this.#domains(oid).some((domain) => domain.isNotNull);

  /** A domain takes over the default of the one that it is made of when it is created. */
  hasDefault = (oid: number): boolean => this.#row(oid).hasDefault;

  /** A domain that refuses NULL is replaced by what it is made of. */
  nullable(oid: number, { sqlType, defaultExpression }: ColumnDefault) {
    const domains = this.#domains(oid);
    const innermost = domains.at(-1);
    if (innermost === undefined || !domains.some(({ refusesNull }) => refusesNull)) {
      return { nullableType: sqlType, isTypeUsable: this.#row(oid).isUsable, defaultExpression };
    }
    return {
      nullableType: innermost.sqlBase ?? sqlType,
      isTypeUsable: this.#row(innermost.base).isUsable,
      defaultExpression: defaultExpression ?? this.#row(oid).defaultExpression,
    };
  }

  /** The domain and those that it is made of, from the outermost on; none for another type. */
  #domains(oid: number): readonly TypeRow[] {
    const row = this.#row(oid);
    return row.base === 0 ? [] : [row, ...this.#domains(row.base)];
  }

  #row(oid: number): TypeRow {
    const row = this.#byOid.get(oid);
    if (row === undefined) {
      throw new Error(`table catalog: the type ${oid} was not read`);
    }
    return row;
  }
}
