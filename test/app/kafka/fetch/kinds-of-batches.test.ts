import { describe, expect, test } from '@jest/globals';
import { batchOf, checksummed, compressedMessages, oldMessage, readSet, recordBatch } from './record-sets.ts';

/** Record batches of Kafka: where the attributes and the last offset's delta are, and bits of the attributes. */
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const GZIP = 1;
const TRANSACTIONAL = 0x10;
const CONTROL = 0x20;

function withHead(batch: Buffer, { attributes = 0, lastDelta }: { attributes?: number; lastDelta?: number }): Buffer {
  batch.writeInt16BE(attributes, ATTRIBUTES_AT);
  if (lastDelta !== undefined) {
    batch.writeInt32BE(lastDelta, LAST_DELTA_AT);
  }
  return checksummed(batch);
}

/** A batch of the end of a transaction, whose only record has this key. */
function marker(key: readonly number[] | null, firstOffset = 5): Buffer {
  const keyBytes = key === null ? [1] : [key.length * 2, ...key];
  const body = [0, 0, 0, ...keyBytes, 1, 0];
  const batch = batchOf(Buffer.from([body.length * 2, ...body]), { firstOffset, records: 1 });
  return withHead(batch, { attributes: CONTROL | TRANSACTIONAL });
}

describe('a control batch', () => {
  test.each([
    ['abort', [0, 0, 0, 0]],
    ['commit', [0, 0, 0, 1]],
    ['commit', [0, 0, 0, 1, 7]],
    ['other', [0, 0, 0, 2]],
    ['other', [0, 1, 1, 0]],
    ['other', [0, 0, 0]],
    ['other', []],
    ['other', null],
  ] as const)('is %s, by its key: %j', async (control, key) => {
    const { batches, records, fault } = await readSet(marker(key));
    expect([batches, records, fault]).toEqual([
      [expect.objectContaining({ control, isTransactional: true, firstOffset: 5n, nextOffset: 6n })],
      [],
      null,
    ]);
  });

  test('without records is another one', async () => {
    const empty = withHead(batchOf(Buffer.alloc(0), { firstOffset: 5, records: 0 }), { attributes: CONTROL });
    expect((await readSet(empty)).batches).toMatchObject([{ control: 'other', nextOffset: 5n }]);
  });
});

test.each([
  [true, TRANSACTIONAL],
  [false, 0],
])('a batch of records is part of a transaction, %s, by its attributes', async (isTransactional, attributes) => {
  const { batches, records } = await readSet(withHead(recordBatch(5, 2), { attributes }));
  expect(batches).toMatchObject([{ isTransactional, control: null }]);
  expect(records).toHaveLength(2);
});

test('a batch whose last records were compacted away ends where its head tells', async () => {
  const { batches, records } = await readSet(withHead(recordBatch(10, 2), { lastDelta: 9 }));
  expect(batches).toMatchObject([{ firstOffset: 10n, nextOffset: 20n }]);
  expect(records.map(({ offset }) => offset)).toEqual([10n, 11n]);
});

test('a batch of which nothing is left by compaction is not unpacked, and is passed over', async () => {
  const empty = batchOf(Buffer.alloc(0), { firstOffset: 10, records: 0 });
  const { batches, records, fault } = await readSet(withHead(empty, { attributes: GZIP, lastDelta: 4 }));
  expect([batches, records, fault]).toMatchObject([[{ firstOffset: 10n, nextOffset: 15n }], [], null]);
});

test.each([
  ['one message', oldMessage(7, { version: 1, value: '7' }), 7n, 8n],
  [
    'compressed ones',
    compressedMessages(9, 0, [
      [8, { version: 0, value: '7' }],
      [9, { version: 0, value: '7' }],
    ]),
    8n,
    10n,
  ],
  [
    'compressed ones whose offsets count from 0',
    compressedMessages(0, 1, [
      [0, { version: 1, value: '7', timestamp: 1 }],
      [1, { version: 1, value: '7', timestamp: 1 }],
    ]),
    0n,
    2n,
  ],
])('the offsets of messages are those of their records: %s', async (_, set, firstOffset, nextOffset) => {
  const { batches } = await readSet(set);
  expect(batches).toMatchObject([
    { firstOffset, nextOffset, leaderEpoch: null, isTransactional: false, control: null },
  ]);
});
