import { describe, expect, test } from '@jest/globals';
import { acknowledgedRecords, chaosRecord, NUMBER_HEADER } from '../../../dev/chaos/chaos-producer.ts';
import { sampleRecord } from '../../../dev/orders/sample-record.ts';

describe('a record of the chaos run', () => {
  test('is a sample order that tells its number', () => {
    const order = sampleRecord(7, 123, 6);
    const headers = [...order.headers, [NUMBER_HEADER, '123']];
    expect(chaosRecord(7, 123, 6, 5)).toEqual({ ...order, headers });
  });

  test('is poison in the partition of the burst when its number is negative', () => {
    for (let number = -1; number > -20; number -= 1) {
      const record = chaosRecord(7, number, 6, 5);
      expect(record).toMatchObject({ partition: 5, headers: [[NUMBER_HEADER, String(number)]] });
      expect(record.reason).toBeDefined();
      expect(record.value?.length).toBeLessThanOrEqual(1_024);
    }
  });

  test('comes in several kinds of poison', () => {
    const reasons = Array.from({ length: 20 }, (_, index) => chaosRecord(7, -1 - index, 6, 0).reason);
    expect(new Set(reasons).size).toBeGreaterThanOrEqual(4);
  });
});

describe('the records of a topic by the answers to the producer', () => {
  const ONE = { seed: 7, partitions: 1 };
  const request = (first: number, base: bigint) => ({ first, count: 2, baseOffsets: new Map([[0, base]]) });
  const numbers = (...requests: ReturnType<typeof request>[]): readonly [bigint, string][] =>
    [...acknowledgedRecords(requests, ONE)].map(({ offset, headers }) => [offset, String(headers.at(-1)?.[1])]);

  test('are at the offsets that were acknowledged, with the content of their numbers', () => {
    expect([...acknowledgedRecords([request(0, 0n)], ONE)]).toEqual(
      [0, 1].map((number) => ({ ...chaosRecord(7, number, 1, 0), offset: BigInt(number) })),
    );
  });

  test('are there once for each attempt that was stored', () => {
    expect(numbers(request(0, 0n), request(2, 6n))).toEqual([
      ...[0, 1].map((number) => [BigInt(number), String(number)]),
      ...[2, 4, 6].flatMap((offset) => [0, 1].map((nth) => [BigInt(offset + nth), String(2 + nth)])),
    ]);
  });

  test('cannot be told where something else was produced', () => {
    expect(() => numbers(request(0, 0n), request(2, 3n))).toThrow(
      '0/2 to 3 are not attempts of the request from number 2',
    );
  });
});
