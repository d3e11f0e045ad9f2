import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { pick, type RandomSource, randomSource } from './random-source.ts';
import { NAMES, POISON_KINDS, type SampleRecord, sampleRecord } from './sample-record.ts';

/**
 * JSON that `records` takes and the table of orders does not, and why: another text in place of a part of the order.
 */
const SPOILED_ORDERS: readonly { readonly reason: DeadLetterReason; readonly spoil: (order: string) => string }[] = [
  { reason: 'value_does_not_fit', spoil: (order) => order.replace(/"total":[\d.]+/, '"total":"much"') },
  { reason: 'value_does_not_fit', spoil: (order) => order.replace(/"status":"\w+"/, '"status":"lost"') },
  { reason: 'missing_value', spoil: (order) => order.replace(/"placedAt":"[^"]+",/, '') },
  { reason: 'value_does_not_fit', spoil: (order) => order.replace(/"gift":\w+/, '"gift":"a scarf"') },
];
/** The first ones come early, between the other broken ones. */
const FIRST_SPOILED = { every: 10, behind: 5, upTo: SPOILED_ORDERS.length * 10 } as const;
const LATER_SPOILED = { every: 1_000, behind: 500 } as const;

/** Its NUL is in a field that is no column: what the table misses is the order's number. */
const [, ESCAPED_NUL] = POISON_KINDS;

/**
 * The record at an index of the stream of sample orders for a table of orders: that of {@link sampleRecord}, as an
 * order with a boolean and a UUID, and now and then one that does not fit. Where it is a row of the table it is one of
 * `records`, too.
 */
export function tableOrder(seed: number, index: number, partitions: number): SampleRecord {
  const record = sampleRecord(seed, index, partitions);
  if (record.reason !== undefined) {
    return record.value === ESCAPED_NUL?.value ? { ...record, reason: 'missing_value' } : record;
  }
  if (record.value === null) {
    return { ...record, reason: 'no_value' };
  }
  const order = withPayment(String(record.value), randomSource(~seed, index));
  const spoiled = spoiledAt(index);
  return { ...record, value: Buffer.from(spoiled?.spoil(order) ?? order), reason: spoiled?.reason };
}

function spoiledAt(index: number) {
  const { every, behind } = index < FIRST_SPOILED.upTo ? FIRST_SPOILED : LATER_SPOILED;
  return index % every === behind ? SPOILED_ORDERS[Math.floor(index / every) % SPOILED_ORDERS.length] : undefined;
}

/** The order with whether it is a gift and the UUID of its payment: about 280 bytes. */
const withPayment = (order: string, random: RandomSource): string =>
  `${order.slice(0, -1)},"gift":${random.below(5) === 0},"paymentId":"${uuid(random)}"}`;

/** A UUID of version 4 (RFC 9562). */
export function uuid(random: RandomSource): string {
  const digits = (count: number) =>
    random
      .below(16 ** count)
      .toString(16)
      .padStart(count, '0');
  const variant = (8 + random.below(4)).toString(16);
  return `${digits(8)}-${digits(4)}-4${digits(3)}-${variant}${digits(3)}-${digits(6)}${digits(6)}`;
}

/** Customers who are active at a time. */
const ACTIVE_CUSTOMERS = 500;
/**
 * A customer has so many on average, one soon after the other, and is left alone: the table at the end has last states
 * from all of the time, so that a change that was lost in its middle is missed.
 */
const CHANGES_PER_CUSTOMER = 5;
/** One of so many is a tombstone. */
const DELETION_EVERY = 10;
const BROKEN_EVERY = 200;
const NO_ADDRESS_EVERY = 8;
const FIRST_CHANGE_AT = Date.UTC(2026, 0, 1);
const MS_BETWEEN_CHANGES = 113;
/** One of so many is late: it was made before up to so many others that come before it. */
const LATE_EVERY = 6;
const MOST_LATE = 3_000;
const TIERS = ['standard', 'silver', 'gold'];
const STREETS = ['Rua das Flores', 'Löwengasse', 'Harbour Road', 'Vía Láctea', '銀座通り', 'rue "Haute"'];
const CITIES = ['Porto', 'Köln', 'Cork', 'Bogotá', 'Tokyo'];

/**
 * The record at an index of the stream of changes of customers: a new state under the customer's number as key, a
 * tombstone in one of ten, and now and then one that is no customer.
 */
export function customerChange(seed: number, index: number, partitions: number): SampleRecord {
  const random = randomSource(seed, index);
  const id = Math.floor(index / CHANGES_PER_CUSTOMER) + random.below(ACTIVE_CUSTOMERS);
  const record = { partition: id % partitions, key: Buffer.from(String(id)), headers: [] };
  if (index % BROKEN_EVERY === BROKEN_EVERY - 1) {
    const broken = `{"id":${id},"name":null,"tier":"gold","subscribed":true}`;
    return { ...record, value: Buffer.from(broken), reason: 'missing_value' };
  }
  const isDeleted = random.below(DELETION_EVERY) === 0;
  return { ...record, value: isDeleted ? null : Buffer.from(customer(random, index, id)), reason: undefined };
}

function customer(random: RandomSource, index: number, id: number): string {
  const address = { street: `${pick(random, STREETS)} ${1 + random.below(90)}`, city: pick(random, CITIES) };
  const rest = {
    name: pick(random, NAMES),
    tier: pick(random, TIERS),
    address: random.below(NO_ADDRESS_EVERY) === 0 ? null : address,
    subscribed: random.below(2) === 0,
    changedAt: changedAt(random, index),
  };
  // JSON.stringify keeps no two decimals.
  return `{"id":${id},"credit":${random.below(1_000)}.${10 + random.below(90)},${JSON.stringify(rest).slice(1)}`;
}

function changedAt(random: RandomSource, index: number): string {
  const late = random.below(LATE_EVERY) === 0 ? random.below(MOST_LATE) : 0;
  return new Date(FIRST_CHANGE_AT + (index - late) * MS_BETWEEN_CHANGES).toISOString();
}
