import { describe, expect, it } from '@jest/globals';
import { chaosRecord, NUMBER_HEADER } from '../../../dev/chaos/chaos-producer.ts';
import { sampleRecord } from '../../../dev/orders/sample-record.ts';

describe('a record of the chaos run', () => {
  it('is a sample order that tells its number', () => {
    const order = sampleRecord(7, 123, 6);
    const headers = [...order.headers, [NUMBER_HEADER, '123']];
    expect(chaosRecord(7, 123, 6, 5)).toEqual({ ...order, headers });
  });

  it('is poison in the partition of the burst when its number is negative', () => {
    for (let number = -1; number > -20; number -= 1) {
      const record = chaosRecord(7, number, 6, 5);
      expect(record).toMatchObject({ partition: 5, headers: [[NUMBER_HEADER, String(number)]] });
      expect(record.reason).toBeDefined();
      expect(record.value?.length).toBeLessThanOrEqual(1_024);
    }
  });

  it('comes in several kinds of poison', () => {
    const reasons = Array.from({ length: 20 }, (_, index) => chaosRecord(7, -1 - index, 6, 0).reason);
    expect(new Set(reasons).size).toBeGreaterThanOrEqual(4);
  });
});
