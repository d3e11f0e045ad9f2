import { escapeIdentifier } from 'pg';

/** A table that Debezium follows, and its replica. */
export interface SourceTable {
  readonly name: string;
  /** Types that it needs, with `SCHEMA` for its schema. @default none */
  readonly types?: string;
  /** Its columns as SQL, with `SCHEMA` for its schema. */
  readonly columns: readonly string[];
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /**
   * Columns whose values are kept apart from the row, unpacked: Debezium sends no value of them that did not change.
   * @default none
   */
  readonly large?: readonly string[];
  /**
   * Whether the source writes the whole old row into its log, so that a large value that did not change is sent, too.
   * @default false
   */
  readonly isFull?: boolean;
  /** The unit of a column's values in records without a schema, as the setting `as` names it. @default none */
  readonly units?: Readonly<Record<string, string>>;
}

/** Columns of documents, most of them large. */
const DOCUMENT = {
  columns: [
    'id bigint',
    'title text NOT NULL',
    'body text',
    'data jsonb',
    'raw bytea',
    'tags text[]',
    'pages integer[]',
    'readers uuid[]',
  ],
  key: ['id'],
  large: ['body', 'data', 'raw', 'tags', 'pages', 'readers'],
  units: { data: 'json' },
} as const;

/**
 * A small shop: keys of one and of two columns, NULL beside defaults, large values with and without the old row in the
 * log.
 */
export const SHOP: readonly SourceTable[] = [
  {
    name: 'orders',
    types: `CREATE TYPE SCHEMA.order_state AS ENUM ('new', 'paid', 'shipped');`,
    columns: [
      'id integer',
      'customer text NOT NULL',
      'amount numeric(12,2)',
      `state SCHEMA.order_state DEFAULT 'new'`,
      'gift boolean NOT NULL DEFAULT false',
      'placed_at timestamptz DEFAULT now()',
      'due date',
      'changed_at timestamp(3)',
      `note text DEFAULT 'none'`,
    ],
    key: ['id'],
  },
  {
    name: 'order_lines',
    columns: ['order_id integer', 'line integer', 'sku text NOT NULL', 'quantity integer DEFAULT 1', 'price numeric'],
    key: ['order_id', 'line'],
  },
  { name: 'documents', ...DOCUMENT },
  { name: 'contracts', ...DOCUMENT, isFull: true },
];

/** The statements that make a table, at the source or for its replica. */
export function sourceTableSql(schema: string, { name, types = '', columns, key, large = [], isFull }: SourceTable) {
  const table = `${escapeIdentifier(schema)}.${name}`;
  const storage = large.map((column) => `ALTER COLUMN ${column} SET STORAGE EXTERNAL`);
  return [
    `${types} CREATE TABLE ${table} (${columns.join(', ')}, PRIMARY KEY (${key.join(', ')}));`,
    storage.length > 0 ? `ALTER TABLE ${table} ${storage.join(', ')};` : '',
    isFull === true ? `ALTER TABLE ${table} REPLICA IDENTITY FULL;` : '',
  ]
    .join(' ')
    .replaceAll('SCHEMA', escapeIdentifier(schema));
}

/** Where the events of the source's tables are, and where their rows go to. */
interface ReplicaOf {
  /** Prefix of the topics. */
  readonly prefix: string;
  /** Schema of the replica. */
  readonly schema: string;
  /** Whether each record brings its schema: no unit has to be named then. */
  readonly hasSchemas: boolean;
}

/** The entry of the setting `tables` that makes a table the replica of one of the source's. */
export function replicaEntry({ prefix, schema, hasSchemas }: ReplicaOf, { name, key, units = {} }: SourceTable) {
  const columns = Object.entries(units).map(([column, as]) => [column, { from: column, as }] as const);
  return {
    topic: topicOf(prefix, name),
    table: `${schema}.${name}`,
    key: key.length === 1 ? key[0] : key,
    envelope: 'debezium',
    ...(!hasSchemas && columns.length > 0 && { columns: Object.fromEntries(columns) }),
  };
}

/** The topic of a table of the source. */
export const topicOf = (prefix: string, table: string): string => `${prefix}.public.${table}`;
