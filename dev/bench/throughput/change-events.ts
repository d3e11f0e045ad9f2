import { UNAVAILABLE_VALUE } from '../../../settings/sections/tables/table-envelope.ts';

/** A row of two has no large columns in its event. */
const KEPT_EVERY = 2;

const source = (index: number) => ({
  ...{ version: '3.7.0.Final', connector: 'postgresql', name: 'shop', ts_ms: 1_795_443_420_578, snapshot: 'false' },
  ...{ db: 'shop', sequence: `["${40_435_096 + index}","${40_435_160 + index}"]`, ts_us: 1_795_443_420_578_620 },
  ...{
    ts_ns: 1_795_443_420_578_620_000,
    schema: 'public',
    table: 'orders',
    txId: 900 + index,
    lsn: 40_435_160 + index,
  },
  ...{ xmin: null, origin: null, origin_lsn: null },
});

const field = (name: string, type: string, logical?: string) => ({
  type,
  optional: true,
  ...(logical !== undefined && { name: logical, version: 1 }),
  field: name,
});

const ROW_FIELDS = [
  field('id', 'int64'),
  field('customerId', 'int32'),
  field('total', 'string'),
  field('placedAt', 'string', 'io.debezium.time.ZonedTimestamp'),
  field('gift', 'boolean'),
  field('paymentId', 'string', 'io.debezium.data.Uuid'),
  field('currency', 'string'),
  field('status', 'string'),
  field('customerName', 'string'),
  field('items', 'string', 'io.debezium.data.Json'),
];

const struct = (name: string, logical: string, fields: readonly object[]) => ({
  ...{ type: 'struct', fields, optional: true, name: logical, field: name },
});

const SOURCE_FIELDS = Object.entries(source(0)).map(([name, value]) =>
  field(name, typeof value === 'number' ? 'int64' : 'string'),
);

/** As Debezium's connector and the JsonConverter write it: larger than the event. */
const SCHEMA = JSON.stringify({
  type: 'struct',
  fields: [
    struct('before', 'shop.public.orders.Value', ROW_FIELDS),
    struct('after', 'shop.public.orders.Value', ROW_FIELDS),
    struct('source', 'io.debezium.connector.postgresql.Source', SOURCE_FIELDS),
    field('op', 'string'),
    ...['ts_ms', 'ts_us', 'ts_ns'].map((name) => field(name, 'int64')),
  ],
  optional: false,
  name: 'shop.public.orders.Envelope',
  version: 2,
});

/** How the events of a topic are written. */
interface EventForm {
  readonly hasSchema?: boolean;
  /** Whether each second one has placeholders of the large columns. */
  readonly isKept?: boolean;
}

const KEY_SCHEMA = JSON.stringify({
  ...{ type: 'struct', fields: [{ type: 'int64', optional: false, field: 'id' }], optional: false },
  name: 'shop.public.orders.Key',
});

/** The key of an event, with its schema where the value has one. */
export const keyOf = (id: number, { hasSchema = false }: EventForm): string =>
  hasSchema ? `{"schema":${KEY_SCHEMA},"payload":{"id":${id}}}` : `{"id":${id}}`;

/** The event of a row that is JSON, with the list of its items as the text of a jsonb column. */
export function eventOf(row: string, index: number, { hasSchema = false, isKept = false }: EventForm): string {
  const after = JSON.parse(row) as Record<string, unknown>;
  const hasLarge = !isKept || index % KEPT_EVERY > 0;
  const large = hasLarge
    ? { items: JSON.stringify(after['items']) }
    : { customerName: UNAVAILABLE_VALUE, items: UNAVAILABLE_VALUE };
  const event = JSON.stringify({
    ...{ before: null, after: { ...after, total: Number(after['total']).toFixed(2), ...large }, source: source(index) },
    ...{ transaction: null, op: 'u', ts_ms: 1_795_443_421_389, ts_us: 1_795_443_421_389_000 },
  });
  return hasSchema ? `{"schema":${SCHEMA},"payload":${event}}` : event;
}
