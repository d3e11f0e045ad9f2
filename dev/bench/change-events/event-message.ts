import type { Message } from 'kafkajs';
import type { BenchOrder } from '../tables.ts';

const NAME = 'shop.public.orders';
/** What Debezium sends for a large value that did not change, unless it is told another word. */
const PLACEHOLDER = '__debezium_unavailable_value';
const TOTAL_SCALE = 2;

const field = (name: string, type: string, semantic?: { readonly name: string; readonly parameters?: object }) => ({
  ...{ type, optional: false, field: name },
  ...(semantic && { version: 1, ...semantic }),
});

/** The columns of {@link BenchOrder} as Debezium describes those of PostgreSQL. */
const ROW = [
  field('id', 'int64'),
  field('customer_id', 'int32'),
  field('total', 'bytes', {
    name: 'org.apache.kafka.connect.data.Decimal',
    parameters: { scale: String(TOTAL_SCALE), 'connect.decimal.precision': '12' },
  }),
  field('placed_at', 'string', { name: 'io.debezium.time.ZonedTimestamp' }),
  field('gift', 'boolean'),
  field('payment_id', 'string', { name: 'io.debezium.data.Uuid' }),
  field('currency', 'string'),
  field('status', 'string'),
  field('customer_name', 'string'),
  field('items', 'string', { name: 'io.debezium.data.Json' }),
];
const struct = (name: string, fields: readonly object[], more: object = {}) => ({
  ...{ type: 'struct', fields, optional: false, name, ...more },
});
const row = (name: string) => struct(`${NAME}.Value`, ROW, { optional: true, field: name });
const SOURCE = [
  ...['version', 'connector', 'name'].map((name) => field(name, 'string')),
  field('ts_ms', 'int64'),
  ...['snapshot', 'db', 'sequence'].map((name) => field(name, 'string')),
  ...['ts_us', 'ts_ns'].map((name) => field(name, 'int64')),
  ...['schema', 'table'].map((name) => field(name, 'string')),
  ...['txId', 'lsn'].map((name) => field(name, 'int64')),
];
const ENVELOPE = struct(`${NAME}.Envelope`, [
  row('before'),
  row('after'),
  struct('io.debezium.connector.postgresql.Source', SOURCE, { field: 'source', version: 1 }),
  field('op', 'string'),
  field('ts_ms', 'int64'),
]);
const VALUE_PREFIX = `{"schema":${JSON.stringify(ENVELOPE)},"payload":`;
const KEY_PREFIX = `{"schema":${JSON.stringify(struct(`${NAME}.Key`, [field('id', 'int64')]))},"payload":`;

/** How an order becomes an event. */
export interface EventForm {
  /** Whether the record brings its schema, `{"schema": ..., "payload": ...}`. */
  readonly hasSchema: boolean;
  /** Whether the source did not send the large value of an order. */
  readonly isKept: (index: number) => boolean;
}

/** An event of Debezium's that makes an order a row: about 650 bytes, and 3 kB more with its schema. */
export function eventMessage(index: number, order: BenchOrder, { hasSchema, isKept }: EventForm): Message {
  const { id, total, items, ...others } = order;
  const after = {
    id,
    ...others,
    total: hasSchema ? decimalBytes(total) : total,
    items: isKept(index) ? PLACEHOLDER : JSON.stringify(items),
  };
  const at = Date.parse(order.placed_at);
  const lsn = 20_000_000 + index * 200;
  const source = {
    ...{ version: '3.7.0.Final', connector: 'postgresql', name: 'shop', ts_ms: at, snapshot: 'false', db: 'postgres' },
    ...{ sequence: `["${lsn - 200}","${lsn}"]`, ts_us: at * 1_000, ts_ns: at * 1_000_000, schema: 'public' },
    ...{ table: 'orders', txId: 700 + index, lsn },
  };
  const payload = JSON.stringify({ before: null, after, source, op: 'c', ts_ms: at + 100 });
  const key = JSON.stringify({ id });
  return hasSchema ? { key: `${KEY_PREFIX}${key}}`, value: `${VALUE_PREFIX}${payload}}` } : { key, value: payload };
}

/** The digits without the point as Connect has them: a signed number, its highest byte first, as base64. */
function decimalBytes(digits: string): string {
  const hex = BigInt(digits.replace('.', '')).toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex').toString('base64');
}
