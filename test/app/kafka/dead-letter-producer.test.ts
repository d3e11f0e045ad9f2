import { describe, expect, test } from '@jest/globals';
import { deadLetterMessage, inRequests } from '../../../app/kafka/dead-letter-producer.ts';
import type { DeadLetter } from '../../../app/stream/ports/dead-letter.ts';
import { aRecord } from '../stream/records.ts';

const aLetter = (record: DeadLetter['record']): DeadLetter => ({
  groupId: 'group',
  topic: 'orders',
  partition: 3,
  record,
  reason: 'invalid_json',
  error: 'SQLSTATE 22P02: wrong',
});

describe('a dead letter as a message', () => {
  test('has the key and the value of its record, byte for byte', () => {
    const key = Buffer.from([0xff, 0]);
    const message = deadLetterMessage(aLetter(aRecord(5n, { key, value: null })));
    expect(message).toMatchObject({ key, value: null, partition: 3 });
  });

  test("has its record's headers first, in their order, with their repetitions, and then its origin", () => {
    const headers = [
      { key: 'z', value: Buffer.from('1') },
      { key: '1', value: null },
      { key: 'z', value: Buffer.from([0xff]) },
    ];
    const message = deadLetterMessage(aLetter(aRecord(5n, { headers, timestamp: -1n })));
    expect(message.headers.slice(0, 3)).toEqual(headers);
    expect(message.headers.slice(3).map(({ key, value }) => [key, String(value)])).toEqual([
      ['dead-letter.topic', 'orders'],
      ['dead-letter.partition', '3'],
      ['dead-letter.offset', '5'],
      ['dead-letter.timestamp', '-1'],
      ['dead-letter.group', 'group'],
      ['dead-letter.reason', 'invalid_json'],
      ['dead-letter.error', 'SQLSTATE 22P02: wrong'],
    ]);
  });

  test('names the table and the column that cannot have it, where they are known', () => {
    const named = (fields: Partial<DeadLetter>) =>
      deadLetterMessage({ ...aLetter(aRecord(5n)), ...fields })
        .headers.slice(7)
        .map(({ key, value }) => [key, String(value)]);
    const target = 'public.orders';
    expect(named({ target, targetColumn: 'total' })).toEqual([
      ['dead-letter.target', target],
      ['dead-letter.target-column', 'total'],
    ]);
    expect(named({ target })).toEqual([['dead-letter.target', target]]);
  });
});

describe('requests', () => {
  const ofBytes = (bytes: number) => deadLetterMessage(aLetter(aRecord(0n, { value: Buffer.alloc(bytes) })));

  test('hold all messages in their order', () => {
    const messages = Array.from({ length: 50 }, (_, index) => ofBytes(index * 1_000));
    expect(inRequests(messages).flat()).toEqual(messages);
  });

  test('stay below what a broker takes by default', () => {
    const requests = inRequests(Array.from({ length: 100 }, () => ofBytes(20_000)));
    for (const request of requests) {
      expect(request.length * 20_000).toBeLessThan(524_288);
    }
    expect(requests.length).toBeLessThan(6);
  });

  test('hold a message alone that is larger than that', () => {
    const large = ofBytes(2_000_000);
    expect(inRequests([ofBytes(1), large, ofBytes(2)]).map(({ length }) => length)).toEqual([1, 1, 1]);
  });

  test('are none for no messages', () => {
    expect(inRequests([])).toEqual([]);
  });
});
