import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { pick, type RandomSource, randomSource } from './random-source.ts';

/** One header, in the order of the record. */
export type SampleHeader = readonly [key: string, value: string | Buffer];

/** A record to produce, and the table that the consumer has to write it to. */
export interface SampleRecord {
  readonly partition: number;
  readonly key: Buffer | null;
  /** `null` is a tombstone. */
  readonly value: Buffer | null;
  readonly headers: readonly SampleHeader[];
  /** Why the record has to end in `dead_letters`; undefined when it belongs into `records`. */
  readonly reason: DeadLetterReason | undefined;
}

/** `consumer.maxValueBytes` in dev/application.yml: low, so that a record over it still fits into a Kafka batch. */
export const MAX_VALUE_BYTES = 262_144;

const NESTING = 50_000;

/** Key or value of a record that PostgreSQL cannot store, and the reason of its dead letter. */
interface Poison {
  readonly reason: DeadLetterReason;
  /** Left out: the good key stays. */
  readonly key?: Buffer;
  /** Left out: the good value stays. */
  readonly value?: Buffer;
}

/** One of each kind that a producer can send to a broker with default settings. */
export const POISON_KINDS: readonly Poison[] = [
  { reason: 'invalid_json', value: Buffer.from('{"orderId": 17, "customer": {"name": "cut o') },
  { reason: 'nul_character', value: Buffer.from('{"note": "an escaped NUL: \\u0000"}') },
  { reason: 'nul_character', value: Buffer.from('{"note": "a raw NUL: \0"}') },
  {
    reason: 'invalid_utf8',
    value: Buffer.concat([Buffer.from('{"note": "'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
  },
  { reason: 'number_out_of_range', value: Buffer.from('{"total": 1e200000}') },
  { reason: 'nesting_too_deep', value: Buffer.from('['.repeat(NESTING) + ']'.repeat(NESTING)) },
  { reason: 'value_too_large', value: Buffer.from(JSON.stringify({ note: 'x'.repeat(MAX_VALUE_BYTES) })) },
  { reason: 'key_not_text', key: Buffer.from([0xff, 0xfe, 0xfd]) },
];

/** Names of customers. */
export const NAMES = [
  'Ada Okafor',
  'Grace Lindqvist',
  'Zoë Müller',
  'Jun 田中',
  'Émile Dubois',
  'Sofía Rojas',
  'Noah Cohen',
];
const GOODS = ['kettle', 'lamp', 'notebook', 'raincoat', 'teapot', 'umbrella', 'violin strings', 'wool scarf'];
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY'];
const STATUSES = ['new', 'paid', 'packed', 'shipped'];
/** Above 2^53: a consumer that parsed and printed numbers in JavaScript would change it. */
const FIRST_ORDER_ID = 9_007_199_254_740_993n;
const FIRST_ORDER_AT = Date.UTC(2026, 0, 1);
const MS_BETWEEN_ORDERS = 37;

/** The first poison records come early, so that a short run meets every kind; later ones are rare. */
const FIRST_POISON = { every: 10, upTo: POISON_KINDS.length * 10 } as const;
const LATER_POISON_EVERY = 1_000;
const TOMBSTONE_EVERY = 250;
const KEYLESS_EVERY = 97;
const TRACE_HEADER_EVERY = 2;
const REPEATED_HEADERS_EVERY = 50;
const CUSTOMERS = 20_000;

/**
 * The record at an index of the stream of sample orders: the same for the same seed and number of partitions, and
 * independent of all others. Records of one customer share a key and a partition.
 */
export function sampleRecord(seed: number, index: number, partitions: number): SampleRecord {
  const random = randomSource(seed, index);
  const customer = random.below(CUSTOMERS);
  const poison = poisonAt(index);
  const isTombstone = poison === undefined && index % TOMBSTONE_EVERY === TOMBSTONE_EVERY - 1;
  const isKeyless = poison === undefined && !isTombstone && index % KEYLESS_EVERY === KEYLESS_EVERY - 1;
  const key = isKeyless ? null : Buffer.from(`customer-${String(customer).padStart(5, '0')}`);
  const value = isTombstone ? null : Buffer.from(sampleOrder(random, index, customer));
  return {
    partition: customer % partitions,
    key: poison?.key ?? key,
    value: poison?.value ?? value,
    headers: headersAt(random, index),
    reason: poison?.reason,
  };
}

function poisonAt(index: number): Poison | undefined {
  const every = index <= FIRST_POISON.upTo ? FIRST_POISON.every : LATER_POISON_EVERY;
  return index > 0 && index % every === 0 ? POISON_KINDS[(index / every - 1) % POISON_KINDS.length] : undefined;
}

function headersAt(random: RandomSource, index: number): readonly SampleHeader[] {
  const trace: SampleHeader = [
    'trace-id',
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ];
  if (index % REPEATED_HEADERS_EVERY === REPEATED_HEADERS_EVERY - 1) {
    return [trace, ['tag', 'first'], ['tag', 'second'], ['signature', Buffer.from([0x00, 0xff, index & 0xff])]];
  }
  return index % TRACE_HEADER_EVERY === 0 ? [trace] : [];
}

/** Text of a JSON order, about 200 bytes. */
export function sampleOrder(random: RandomSource, index: number, customer: number): string {
  const quantity = 1 + random.below(4);
  const cents = 199 + random.below(20_000);
  const rest = {
    customer: { id: customer, name: pick(random, NAMES) },
    items: [{ sku: `SKU-${1_000 + random.below(9_000)}`, name: pick(random, GOODS), quantity }],
    currency: pick(random, CURRENCIES),
    status: pick(random, STATUSES),
    placedAt: new Date(FIRST_ORDER_AT + index * MS_BETWEEN_ORDERS).toISOString(),
  };
  // JSON.stringify keeps neither two decimals nor 16 digits.
  const total = `${Math.floor((quantity * cents) / 100)}.${String((quantity * cents) % 100).padStart(2, '0')}`;
  return `{"orderId":${FIRST_ORDER_ID + BigInt(index)},"total":${total},${JSON.stringify(rest).slice(1)}`;
}
