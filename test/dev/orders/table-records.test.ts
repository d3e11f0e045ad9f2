import { describe, expect, test } from '@jest/globals';
import { lastStates, newestStates } from '../../../dev/orders/sample-producer.ts';
import type { SampleRecord } from '../../../dev/orders/sample-record.ts';
import { sampleRecord } from '../../../dev/orders/sample-record.ts';
import { customerChange, tableOrder } from '../../../dev/orders/table-records.ts';

const PARTITIONS = 6;
const stream = (recordAt: typeof tableOrder, count: number, seed = 1): readonly SampleRecord[] =>
  Array.from({ length: count }, (_, index) => recordAt(seed, index, PARTITIONS));
const orders = (count: number) => stream(tableOrder, count);
const changes = (count: number) => stream(customerChange, count);
const reasonsOf = (records: readonly SampleRecord[]) => [
  ...new Set(records.flatMap(({ reason }) => (reason === undefined ? [] : [reason]))),
];

describe('an order for a table', () => {
  test('is the sample order with a boolean and a UUID, and digits that JavaScript cannot hold', () => {
    const value = String(tableOrder(1, 1, PARTITIONS).value);
    const sample = String(sampleRecord(1, 1, PARTITIONS).value);
    expect(value.startsWith(sample.slice(0, -1))).toBe(true);
    expect(JSON.parse(value)).toMatchObject({
      gift: expect.any(Boolean),
      paymentId: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
    });
    expect(value).toContain('"orderId":9007199254740994,');
    expect(tableOrder(1, 1, PARTITIONS)).toEqual(tableOrder(1, 1, PARTITIONS));
    expect(tableOrder(2, 1, PARTITIONS).value).not.toEqual(tableOrder(1, 1, PARTITIONS).value);
  });

  test('is JSON that does not fit now and then: each kind among the first fifty', () => {
    const wrong = orders(50).filter(({ reason }, index) => reason !== undefined && index % 10 === 5);
    expect(wrong.map(({ reason }) => reason)).toEqual([
      'value_does_not_fit',
      'value_does_not_fit',
      'missing_value',
      'value_does_not_fit',
    ]);
    const parsed = wrong.map(({ value }) => JSON.parse(String(value)) as Record<string, unknown>);
    expect(parsed.map(({ total, status, placedAt, gift }) => [total, status, placedAt, gift])).toEqual([
      ['much', expect.any(String), expect.any(String), expect.any(Boolean)],
      [expect.any(Number), 'lost', expect.any(String), expect.any(Boolean)],
      [expect.any(Number), expect.any(String), undefined, expect.any(Boolean)],
      [expect.any(Number), expect.any(String), expect.any(String), 'a scarf'],
    ]);
  });

  test('is no order where it is a tombstone, and broken where the sample record is', () => {
    const [wanted, found] = [stream(sampleRecord, 2_000), orders(2_000)];
    for (const [index, { reason, value }] of wanted.entries()) {
      if (reason !== undefined || value === null) {
        expect(found[index]?.reason).toBeDefined();
        expect(found[index]?.value).toEqual(value);
      }
    }
    expect(reasonsOf(found)).toContain('no_value');
    expect(found.filter(({ reason }) => reason !== undefined).length).toBeLessThan(40);
  });
});

describe('a change of a customer', () => {
  test('is one of five of its customer on average, in the partition of the key; one of ten is a tombstone', () => {
    const all = changes(20_000);
    const partitions = new Map(all.map(({ key, partition }) => [String(key), partition]));
    expect(all.every(({ key, partition }) => partitions.get(String(key)) === partition)).toBe(true);
    expect(all.length / partitions.size).toBeGreaterThan(4);
    expect(all.length / partitions.size).toBeLessThan(6);
    expect(Number(all.at(-1)?.key)).toBeGreaterThan(all.length / 5);
    const tombstones = all.filter(({ value }) => value === null).length;
    expect(tombstones / all.length).toBeGreaterThan(0.09);
    expect(tombstones / all.length).toBeLessThan(0.11);
    expect(reasonsOf(all)).toEqual(['missing_value']);
  });

  test('is JSON with the number of its key', () => {
    for (const { key, value } of changes(1_000)) {
      expect(value === null ? Number(key) : JSON.parse(String(value))).toEqual(
        value === null ? expect.any(Number) : expect.objectContaining({ id: Number(key) }),
      );
    }
  });
});

describe('the last states', () => {
  const record = (key: string, value: string | null, offset: bigint, isBroken = false) => ({
    partition: 0,
    offset,
    key: Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers: [],
    reason: isBroken ? ('missing_value' as const) : undefined,
  });

  test('are those of a Map that took the changes in their order; broken ones change nothing', () => {
    const states = lastStates([
      record('1', 'a', 0n),
      record('2', 'b', 1n),
      record('1', 'c', 2n),
      record('2', null, 3n),
      record('3', 'd', 4n),
      record('3', null, 5n),
      record('3', 'e', 6n),
      record('1', 'x', 7n, true),
    ]);
    expect([...states].map(([key, { value }]) => [key, String(value)])).toEqual([
      ['1', 'c'],
      ['3', 'e'],
    ]);
  });

  test('with a version are those of a Map that no older change replaces, until a tombstone deletes it', () => {
    const states = newestStates(
      [
        record('1', 'b', 0n),
        record('1', 'a', 1n),
        record('2', 'b2', 2n),
        record('2', 'b1', 3n),
        record('2', 'b2', 4n),
        record('3', 'c', 5n),
        record('3', null, 6n),
        record('3', 'a', 7n),
        record('1', 'x', 8n, true),
      ],
      (value) => String(value),
    );
    expect([...states].map(([key, { offset }]) => [key, offset])).toEqual([
      ['1', 0n],
      ['2', 4n],
      ['3', 7n],
    ]);
  });

  test('differ by the version, as some changes are late', () => {
    const all = changes(5_000).map((each, nth) => ({ ...each, offset: BigInt(nth) }));
    const newest = newestStates(all, (value) => JSON.parse(String(value)).changedAt);
    const last = lastStates(all);
    const different = [...last].filter(([key, { offset }]) => newest.get(key)?.offset !== offset);
    expect(different.length).toBeGreaterThan(20);
    expect([...newest.keys()].sort()).toEqual([...last.keys()].sort());
  });
});
