import avsc from 'avsc';

const logical = (type: string, logicalType: string, rest: object = {}) => ({ type, logicalType, ...rest });
const optional = <Type>(type: Type) => ({ type: ['null', type] as const, default: null });

/** A row as Debezium's connector and an Avro converter have it: the list of items is JSON, or Avro in orders. */
const orderFields = (items: unknown) => [
  { name: 'id', type: 'long' },
  { name: 'customerId', type: 'int' },
  { name: 'total', type: logical('bytes', 'decimal', { precision: 12, scale: 2 }) },
  { name: 'placedAt', type: logical('long', 'timestamp-millis') },
  { name: 'gift', type: 'boolean' },
  ...['paymentId', 'currency', 'status', 'customerName'].map((name) => ({ name, type: 'string' })),
  { name: 'items', type: items },
];

const ITEM = {
  ...{ type: 'record', name: 'Item' },
  fields: ['sku', 'quantity'].map((name) => ({ name, type: 'int' })),
};
const ORDER = { type: 'record', name: 'Order', fields: orderFields({ type: 'array', items: ITEM }) };

const ROW = {
  ...{ type: 'record', name: 'Value' },
  fields: orderFields({ type: 'string', 'connect.name': 'io.debezium.data.Json' }),
};
const SOURCE = {
  ...{ type: 'record', name: 'Source' },
  fields: [
    ...['version', 'connector', 'name'].map((name) => ({ name, type: 'string' })),
    { name: 'ts_ms', type: 'long' },
    ...['snapshot', 'sequence'].map((name) => ({ name, ...optional('string') })),
    ...['db', 'schema', 'table'].map((name) => ({ name, type: 'string' })),
    ...['txId', 'lsn', 'xmin'].map((name) => ({ name, ...optional('long') })),
  ],
};
const EVENT = {
  ...{ type: 'record', name: 'Envelope', namespace: 'shop.public.orders' },
  fields: [
    { name: 'before', ...optional(ROW) },
    { name: 'after', ...optional('Value') },
    { name: 'source', type: SOURCE },
    { name: 'op', type: 'string' },
    ...['ts_ms', 'ts_us'].map((name) => ({ name, ...optional('long') })),
  ],
};

const [ORDER_ID, EVENT_ID] = [1, 2];

/** The schema of an id, as the registry of a benchmark has it. */
export const orderSchema = (id: number): object | undefined => ({ [ORDER_ID]: ORDER, [EVENT_ID]: EVENT })[id];

// What has a logical type is given as what it is made of.
const orderType = avsc.Type.forSchema(ORDER as avsc.Schema);
const eventType = avsc.Type.forSchema(EVENT as avsc.Schema, { wrapUnions: false });

const source = (index: number) => ({
  ...{ version: '3.7.0.Final', connector: 'postgresql', name: 'shop', ts_ms: 1_795_443_420_578, snapshot: 'false' },
  ...{ db: 'shop', sequence: `["${40_435_096 + index}","${40_435_160 + index}"]`, schema: 'public', table: 'orders' },
  ...{ txId: 900 + index, lsn: 40_435_160 + index, xmin: null },
});

function withId(id: number, bytes: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(id, 1);
  return Buffer.concat([prefix, bytes]);
}

/** Cents in two's complement. */
function decimal(total: unknown): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(Math.round(Number(total) * 100));
  return bytes;
}

interface Order extends Readonly<Record<string, unknown>> {
  readonly total: unknown;
  readonly placedAt: string;
}

const rowOf = (order: Order) => ({ ...order, total: decimal(order.total), placedAt: Date.parse(order.placedAt) });

/** An order that is JSON, in Avro behind the id of its schema. */
export const avroOrder = (json: string): Buffer =>
  withId(ORDER_ID, orderType.toBuffer(rowOf(JSON.parse(json) as Order)));

/** The change event of its row. */
export function avroEvent(json: string, index: number): Buffer {
  const order = JSON.parse(json) as Order;
  const after = { ...rowOf(order), items: JSON.stringify(order['items']) };
  const times = { ts_ms: 1_795_443_421_389, ts_us: 1_795_443_421_389_000 };
  return withId(EVENT_ID, eventType.toBuffer({ before: null, after, source: source(index), op: 'u', ...times }));
}
