import { FieldReaders } from '../../../app/formats/field-readers.ts';
import type { RegisteredSchema, Schemas } from '../../../app/formats/registry/schemas.ts';
import { recordsOf } from '../../../app/records/pack-records.ts';
import type { Records } from '../../../app/records/records.ts';
import type { ColumnType, MappedColumn, TableMapping, Unit } from '../../../app/tables/mapping/table-mapping.ts';
import { TableEncoder } from '../../../app/tables/table/table-encoder.ts';
import { UNAVAILABLE_VALUE } from '../../../settings/sections/tables/table-envelope.ts';
import { orderSchema } from './avro-orders.ts';
import { isRegistered, orderMessage, TOPICS } from './order-topics.ts';
import { PROTO_ORDER_ID, PROTO_SCHEMA } from './protobuf-orders.ts';

const BATCHES = 4;
export const RECORDS_IN_A_BATCH = 2_500;
const LARGEST_BATCH = 4 * 1_048_576;

type Kind = Exclude<ColumnType['kind'], 'array' | 'composite'>;

/** The columns of the table that `npm run bench -- tables` has, by the fields of an order. */
const COLUMNS: readonly (readonly [field: string, kind: Kind, type: string])[] = [
  ['id', 'integer', 'bigint'],
  ['customerId', 'integer', 'integer'],
  ['total', 'numeric', 'numeric(12,2)'],
  ['placedAt', 'timestamp', 'timestamp with time zone'],
  ['gift', 'boolean', 'boolean'],
  ['paymentId', 'other', 'uuid'],
  ['currency', 'text', 'text'],
  ['status', 'text', 'text'],
  ['customerName', 'text', 'text'],
  ['items', 'json', 'jsonb'],
];

const columnOf = ([field, kind, name]: (typeof COLUMNS)[number], unit?: Unit): MappedColumn => ({
  name: field,
  type: { kind, name },
  source: { kind: 'field', path: [field] },
  ...(unit !== undefined && { unit }),
  isNotNull: true,
  hasDefault: false,
});

function mappingOf(topic: keyof typeof TOPICS): TableMapping {
  const isEvent = 'events' in TOPICS[topic];
  const saysJson = isEvent && !isRegistered(topic) && topic !== 'eventsWithSchema';
  return {
    ...{ schema: 'bench', table: 'orders', topics: [topic] },
    columns: COLUMNS.map((column) => columnOf(column, saysJson && column[0] === 'items' ? 'json' : undefined)),
    key: isEvent ? { columns: ['id'], existing: 'replace', delete: 'tombstones' } : null,
    stage: isEvent ? { columns: [], equality: {}, tableOid: 1, overridesIdentity: false, mayDropRows: false } : null,
    ...(isEvent && { envelope: { format: 'debezium', unavailableValue: UNAVAILABLE_VALUE } }),
  };
}

function registered(id: number): RegisteredSchema {
  const isProtobuf = id === PROTO_ORDER_ID;
  const text = isProtobuf ? PROTO_SCHEMA : JSON.stringify(orderSchema(id));
  return { id, type: isProtobuf ? 'PROTOBUF' : 'AVRO', text, references: [] };
}

const SCHEMAS: Schemas = { of: registered, fetch: async () => undefined };

function batch(topic: keyof typeof TOPICS, nth: number): Records {
  return recordsOf(
    Array.from({ length: RECORDS_IN_A_BATCH }, (_, index) => {
      const { key, value } = orderMessage(topic, nth * RECORDS_IN_A_BATCH + index);
      const [offset, timestamp] = [BigInt(index), 1_767_225_600_000n];
      return { offset, timestamp, key: Buffer.from(key ?? ''), value: Buffer.from(value ?? ''), headers: [] };
    }),
  );
}

/** An encoder of the rows of a topic, as a consumer has one, and batches of records for it. */
export function orderEncoder(topic: keyof typeof TOPICS) {
  const format = isRegistered(topic) ? 'registry' : 'json';
  const readers = new FieldReaders(() => ({ key: undefined, value: [format] }), SCHEMAS);
  const limits = { maxValueBytes: 1_048_576, takesDefaults: true };
  const encoder = new TableEncoder(mappingOf(topic), limits, undefined, readers);
  const memory = Buffer.allocUnsafeSlow(LARGEST_BATCH);
  const encode = (records: Records) => {
    const { refused } = encoder.encode({ topic, partition: 0 }, records, { take: () => memory });
    if (refused.size > 0) {
      throw new Error(`${topic} has records that are no rows: ${JSON.stringify([...refused].slice(0, 1))}`);
    }
  };
  return { batches: Array.from({ length: BATCHES }, (_, nth) => batch(topic, nth)), encode };
}
