import { describe, expect, test } from '@jest/globals';
import { POISON_KINDS, type SampleRecord, sampleRecord } from '../../../dev/orders/sample-record.ts';

const records = (count: number, seed = 1, partitions = 6): readonly SampleRecord[] =>
  Array.from({ length: count }, (_, index) => sampleRecord(seed, index, partitions));

describe('a sample record', () => {
  test('is the same for the same seed and index', () => {
    expect(records(300)).toEqual(records(300));
  });

  test('is another one for another seed', () => {
    expect(sampleRecord(2, 5, 6).value).not.toEqual(sampleRecord(1, 5, 6).value);
  });

  test('goes to the same partition for the same key, and all partitions are used', () => {
    const partitionsOf = new Map<string, Set<number>>();
    for (const { key, partition, reason } of records(5_000)) {
      if (key !== null && reason !== 'key_not_text') {
        partitionsOf.set(key.toString(), (partitionsOf.get(key.toString()) ?? new Set()).add(partition));
      }
    }
    expect(new Set([...partitionsOf.values()].map((partitions) => partitions.size))).toEqual(new Set([1]));
    expect(new Set(records(500).map(({ partition }) => partition))).toEqual(new Set([0, 1, 2, 3, 4, 5]));
  });

  test('is JSON of about 200 bytes with a number that JavaScript cannot hold, unless it is poison or a tombstone', () => {
    const good = records(1_000).filter(({ reason, value }) => reason === undefined && value !== null);
    for (const { value } of good) {
      expect(JSON.parse(String(value))).toHaveProperty('customer.name');
    }
    const bytes = good.reduce((total, { value }) => total + (value?.length ?? 0), 0) / good.length;
    expect(bytes).toBeGreaterThan(180);
    expect(bytes).toBeLessThan(240);
    const orderId = /"orderId":(\d+)/.exec(String(sampleRecord(1, 1, 6).value))?.[1];
    expect(orderId).toBe('9007199254740994');
    expect(String(Number(sampleRecord(1, 0, 6).value?.toString().match(/\d+/)?.[0]))).not.toBe('9007199254740993');
  });

  test('is poison of every kind among the first hundred, and seldom afterwards', () => {
    const reasons = records(100).flatMap(({ reason }) => (reason === undefined ? [] : [reason]));
    expect(reasons).toEqual(POISON_KINDS.map(({ reason }) => reason));
    expect(records(10_000).filter(({ reason }) => reason !== undefined)).toHaveLength(POISON_KINDS.length + 9);
  });

  test('is a tombstone, without a key or with repeated and binary headers now and then', () => {
    const all = records(1_000);
    expect(all.filter(({ value }) => value === null)).toHaveLength(4);
    expect(all.some(({ key }) => key === null)).toBe(true);
    const tags = all.find(({ headers }) => headers.length > 1)?.headers ?? [];
    expect(tags.map(([key]) => key)).toEqual(['trace-id', 'tag', 'tag', 'signature']);
    expect(tags.at(-1)?.[1]).toBeInstanceOf(Buffer);
  });
});
