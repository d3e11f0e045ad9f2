import pg from 'pg';

const { escapeIdentifier } = pg;

/** Where a column's value comes from, as the settings say it: a path into the value, or a word of Kafka's. */
interface SampleColumn {
  readonly name: string;
  /** As SQL; `SCHEMA` is replaced by the table's schema. */
  readonly type: string;
  /** @default the field of the same name, in camelCase */
  readonly from?: string;
}

/** A table with typed columns that sample records go into. It is made before the consumer starts, never by it. */
export interface SampleTable {
  readonly name: string;
  /** Types and the like that the table needs, with `SCHEMA` for its schema. */
  readonly types: string;
  readonly columns: readonly SampleColumn[];
  /** Columns of the primary key. */
  readonly primaryKey: readonly string[];
  /** The setting `key`; left out: rows are appended. */
  readonly key?: string;
  /** The setting `envelope`; left out: the value is the row. */
  readonly envelope?: string;
}

/**
 * Orders, appended. Their places in the topic are the primary key: a topic may hold the orders of several producers,
 * whose numbers are the same.
 */
export const ORDERS: SampleTable = {
  name: 'orders',
  types: `CREATE TYPE SCHEMA.order_status AS ENUM ('new', 'paid', 'packed', 'shipped');`,
  columns: [
    { name: 'order_id', type: 'bigint NOT NULL' },
    { name: 'total', type: 'numeric(12,2) NOT NULL' },
    { name: 'customer_id', type: 'integer NOT NULL', from: 'customer.id' },
    { name: 'customer_name', type: 'text NOT NULL', from: 'customer.name' },
    { name: 'items', type: 'jsonb NOT NULL' },
    { name: 'currency', type: 'text NOT NULL' },
    { name: 'status', type: 'SCHEMA.order_status NOT NULL' },
    { name: 'placed_at', type: 'timestamptz NOT NULL' },
    { name: 'gift', type: 'boolean NOT NULL' },
    { name: 'payment_id', type: 'uuid' },
    { name: 'partition', type: 'integer', from: '$partition' },
    { name: 'offset', type: 'bigint', from: '$offset' },
  ],
  primaryKey: ['partition', 'offset'],
};

/** Customers, the last state of each: updated by key, deleted by tombstones. */
export const CUSTOMERS: SampleTable = {
  name: 'customers',
  types: `CREATE TYPE SCHEMA.tier AS ENUM ('standard', 'silver', 'gold');`,
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'name', type: 'text NOT NULL' },
    { name: 'tier', type: 'SCHEMA.tier NOT NULL' },
    { name: 'credit', type: 'numeric(10,2)' },
    { name: 'address', type: 'jsonb' },
    { name: 'subscribed', type: 'boolean NOT NULL' },
    { name: 'changed_at', type: 'timestamptz NOT NULL' },
  ],
  primaryKey: ['id'],
  key: 'id',
};

/** A replica of a table of profiles, by change events. */
export const PROFILES: SampleTable = {
  name: 'profiles',
  types: '',
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'name', type: 'text NOT NULL' },
    { name: 'life', type: 'text NOT NULL' },
    { name: 'changed_at', type: 'timestamptz NOT NULL' },
  ],
  primaryKey: ['id'],
  key: 'id',
  envelope: 'debezium',
};

/** Payments, the last state of each: updated by key, deleted by tombstones. */
export const PAYMENTS: SampleTable = {
  name: 'payments',
  types: `CREATE TYPE SCHEMA.payment_state AS ENUM ('new', 'paid', 'refunded');`,
  columns: [
    { name: 'id', type: 'bigint' },
    { name: 'amount', type: 'numeric(12,2) NOT NULL' },
    { name: 'payer', type: 'text' },
    { name: 'state', type: 'SCHEMA.payment_state NOT NULL' },
    { name: 'shares', type: 'integer[] NOT NULL' },
    { name: 'at', type: 'timestamptz NOT NULL' },
  ],
  primaryKey: ['id'],
  key: 'id',
};

/** The table's name as SQL. */
export const qualified = (schema: string, { name }: SampleTable): string =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;

/** The statements that make a table, and the types that it needs. */
export function creationOf(schema: string, table: SampleTable): string {
  const columns = table.columns.map(({ name, type }) => `${escapeIdentifier(name)} ${type}`);
  const key = table.primaryKey.map(escapeIdentifier).join(', ');
  const sql = `${table.types} CREATE TABLE ${qualified(schema, table)} (${columns.join(', ')}, PRIMARY KEY (${key}));`;
  return sql.replaceAll('SCHEMA', escapeIdentifier(schema));
}

/** An entry of the setting `tables`: the topic's records go into the table. */
export function entryOf(schema: string, table: SampleTable, topic: string) {
  const columns = table.columns.flatMap(({ name, from }) => (from === undefined ? [] : [[name, from] as const]));
  return {
    topic,
    table: `${schema}.${table.name}`,
    fields: 'camelCase',
    ...(columns.length > 0 && { columns: Object.fromEntries(columns) }),
    ...(table.key !== undefined && { key: table.key }),
    ...(table.envelope !== undefined && { envelope: table.envelope }),
  };
}

const camelCase = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/**
 * The row that a record has to be, as SQL by PostgreSQL's own rules (documentation, 9.16, `jsonb_populate_record`),
 * from the columns `value`, `partition` and `offset` of the record.
 */
export function expectedRow(schema: string, table: SampleTable): string {
  const fields = table.columns.map(({ name, from }) => {
    const word = from?.startsWith('$') === true ? `to_jsonb(${escapeIdentifier(from.slice(1))})` : undefined;
    const path = (from ?? camelCase(name)).split('.').join(',');
    return `'${name}', ${word ?? `value #> '{${path}}'`}`;
  });
  return `jsonb_populate_record(NULL::${qualified(schema, table)}, jsonb_build_object(${fields.join(', ')}))`;
}
