import avsc from 'avsc';
import { PREFIX_BYTES } from '../../app/records/schema-prefix.ts';
import { pick, type RandomSource, randomSource } from './random-source.ts';
import { lastStates, type ProducedRecord } from './sample-producer.ts';
import { NAMES, type SampleRecord } from './sample-record.ts';

/** The fields that columns take. */
const FIELDS = [
  { name: 'id', type: 'long' },
  { name: 'amount', type: { type: 'bytes', logicalType: 'decimal', precision: 12, scale: 2 } },
  { name: 'payer', type: ['null', 'string'] },
  { name: 'state', type: { type: 'enum', name: 'State', symbols: ['new', 'paid', 'refunded'] } },
  { name: 'shares', type: { type: 'array', items: 'int' } },
  { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
];

/** Producers register a schema so often: a consumer meets one that it has not asked for, again and again. */
const RECORDS_PER_SCHEMA = 600;
const FIRST_SCHEMA = 1_000;
/** One that no registry here has. */
const UNKNOWN_SCHEMA = 999;

/** Each schema has a further field, which no column takes, with another name. */
const schemaAt = (id: number): object => ({
  ...{ type: 'record', name: 'Payment', namespace: 'shop' },
  fields: [{ name: `version${id}`, type: 'string' }, ...FIELDS],
});

/** The schema of an id, as the registry has it. */
export const paymentSchema = (id: number): object | undefined => (id >= FIRST_SCHEMA ? schemaAt(id) : undefined);

const types = new Map<number, avsc.Type>();

/** What has a logical type is given as what it is made of. */
function typeOf(id: number): avsc.Type {
  const type = types.get(id) ?? avsc.Type.forSchema(schemaAt(id) as avsc.Schema, { wrapUnions: false });
  types.set(id, type);
  return type;
}

const ACTIVE_PAYMENTS = 500;
const CHANGES_PER_PAYMENT = 5;
const DELETION_EVERY = 10;
const FIRST_CHANGE_AT = Date.UTC(2026, 0, 1);
const MS_BETWEEN_CHANGES = 113;
const NO_PAYER_EVERY = 8;
const STATES = ['new', 'paid', 'refunded'];

/** One of so many is none, each in its way; for a schema that nobody has each process waits some seconds. */
const BROKEN_EVERY = 200;
const UNKNOWN_EVERY = 5_000;

/**
 * The record at an index of the stream of changes of payments: Avro behind the id of a schema under the payment's
 * number as key, a tombstone in one of ten, and now and then one that is no payment.
 */
export function paymentChange(seed: number, index: number, partitions: number): SampleRecord {
  const random = randomSource(seed, index);
  const id = Math.floor(index / CHANGES_PER_PAYMENT) + random.below(ACTIVE_PAYMENTS);
  const record = { partition: id % partitions, key: Buffer.from(String(id)), headers: [], reason: undefined };
  const schema = FIRST_SCHEMA + Math.floor(index / RECORDS_PER_SCHEMA);
  const value = behind(schema, typeOf(schema).toBuffer(payment(random, index, id, schema)));
  if (index % UNKNOWN_EVERY === UNKNOWN_EVERY - 1) {
    return { ...record, value: behind(UNKNOWN_SCHEMA, value), reason: 'unknown_schema' };
  }
  if (index % BROKEN_EVERY === BROKEN_EVERY / 2) {
    const isCut = random.below(2) === 0;
    return { ...record, value: isCut ? value.subarray(0, -1) : Buffer.from(`{"id":${id}}`), reason: 'undecodable' };
  }
  return { ...record, value: random.below(DELETION_EVERY) === 0 ? null : value };
}

function payment(random: RandomSource, index: number, id: number, schema: number) {
  const amount = Buffer.alloc(4);
  amount.writeInt32BE(random.below(2_000_000) - 1_000_000);
  return {
    [`version${schema}`]: `of ${schema}`,
    id,
    amount,
    payer: random.below(NO_PAYER_EVERY) === 0 ? null : pick(random, NAMES),
    state: pick(random, STATES),
    shares: Array.from({ length: random.below(4) }, () => random.below(2_000) - 1_000),
    at: FIRST_CHANGE_AT + index * MS_BETWEEN_CHANGES,
  };
}

function behind(schema: number, value: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(schema, 1);
  return Buffer.concat([prefix, value]);
}

/**
 * The last record of each payment that is there at the end, its value as JSON: another implementation of Avro than the
 * consumer's reads it.
 */
export function lastPayments(records: Iterable<ProducedRecord>): ReadonlyMap<string, ProducedRecord> {
  const asJson = ([key, record]: readonly [string, ProducedRecord]) =>
    [key, { ...record, value: record.value && Buffer.from(jsonOf(record.value)) }] as const;
  return new Map([...lastStates(records)].map(asJson));
}

function jsonOf(value: Buffer): string {
  const decoded = typeOf(value.readUInt32BE(1)).fromBuffer(value.subarray(PREFIX_BYTES)) as Readonly<
    Record<string, unknown>
  > & { readonly amount: Buffer; readonly at: number };
  const cents = decoded.amount.readInt32BE();
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return JSON.stringify({
    ...decoded,
    amount: `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`,
    at: new Date(decoded.at).toISOString(),
  });
}
