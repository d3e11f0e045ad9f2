import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { FetchAnswer } from '../../../../app/kafka/fetch/fetch-answer.ts';
import { FetchedPartition, FetchedTopic } from '../../../../app/kafka/fetch/fetched-partition.ts';
import { answerBytes, type TopicAnswer, topicId } from './fetch-bytes.ts';
import { recordBatch } from './record-sets.ts';

const SET = recordBatch(7, 3);
const FAR = 2 ** 40 + 3;

const partitionsOf = (topic: string, id: string | null = null) => {
  const names = new FetchedTopic(topic);
  return (partition: number) => {
    const fetched = new FetchedPartition({ topic, partition }, names);
    fetched.seek(0n, { topicId: id });
    return fetched;
  };
};

/** All that an answer says. */
function all(bytes: Buffer, version: number) {
  const answer = new FetchAnswer(bytes, version);
  const partitions = [];
  while (answer.next()) {
    const { partition, errorCode, highWatermark, lastStableOffset, abortedTransactions, records, divergence } = answer;
    partitions.push({
      partition,
      errorCode,
      highWatermark,
      lastStableOffset,
      abortedTransactions,
      records,
      divergence,
    });
  }
  return { throttle: answer.clientSideThrottleTime, error: answer.error, partitions };
}

const nothing = { errorCode: 0, highWatermark: 0, lastStableOffset: 0, abortedTransactions: [], divergence: null };

const two = (first: string, second: string): readonly TopicAnswer[] => [
  [
    first,
    [
      {
        partition: 2,
        highWatermark: FAR,
        lastStableOffset: 9,
        set: SET,
        aborted: [
          [4, 7],
          [2 ** 40, 8],
        ],
      },
      { partition: 0, error: 1, highWatermark: -1 },
    ],
  ],
  [second, [{ partition: 5, set: Buffer.alloc(0) }]],
];

const READ = [
  {
    ...{ partition: 2, errorCode: 0, highWatermark: FAR, lastStableOffset: 9, records: SET, divergence: null },
    abortedTransactions: [
      { producerId: 4n, firstOffset: 7n },
      { producerId: 2n ** 40n, firstOffset: 8n },
    ],
  },
  { ...nothing, partition: 0, errorCode: 1, highWatermark: -1, lastStableOffset: -1, records: null },
  { ...nothing, partition: 5, records: null },
];

describe.each([4, 5, 6, 7, 8, 9, 10, 11])('version %d, by name', (version) => {
  test('says all that it holds, as kafkajs reads it', async () => {
    const bytes = answerBytes(version, two('orders', 'payments'), { throttle: 70, error: version >= 7 ? 6 : 0 });
    // From version 8 on the broker has not waited, and the client has to.
    expect(all(bytes, version)).toEqual({
      throttle: version >= 8 ? 70 : 0,
      error: version >= 7 ? 6 : 0,
      partitions: READ,
    });
    const { decode } = createRequire(import.meta.url)(`kafkajs/src/protocol/requests/fetch/v${version}/response`) as {
      decode(bytes: Buffer): Promise<{ responses: { topicName: string; partitions: { highWatermark: string }[] }[] }>;
    };
    const { responses } = await decode(bytes);
    expect(responses.map(({ topicName }) => topicName)).toEqual(['orders', 'payments']);
    expect(responses[0]?.partitions.map(({ highWatermark }) => highWatermark)).toEqual([String(FAR), '-1']);
  });
});

test('version 13 names topics by id, and says where a log parted from what was read', () => {
  const topics = two(topicId(1), topicId(2));
  const diverging: TopicAnswer = [topicId(3), [{ partition: 1, diverging: [6, FAR] }]];
  const { partitions, throttle } = all(answerBytes(13, [...topics, diverging], { throttle: 9 }), 13);
  expect(throttle).toBe(9);
  const divergence = { leaderEpoch: 6, endOffset: BigInt(FAR) };
  expect(partitions).toEqual([...READ, { ...nothing, partition: 1, records: null, divergence }]);
});

test('an answer is at a partition of this topic and number, whatever else is called like a part of it', () => {
  const orders = partitionsOf('orders', topicId(1));
  const others = partitionsOf('order', topicId(2));
  const answer = new FetchAnswer(answerBytes(11, [['orders', [{ partition: 1 }]]]), 11);
  answer.next();
  expect([answer.isAt(orders(1)), answer.isAt(orders(2)), answer.isAt(others(1))]).toEqual([true, false, false]);
  const byId = new FetchAnswer(answerBytes(13, [[topicId(2), [{ partition: 1 }]]]), 13);
  byId.next();
  expect([byId.isAt(orders(1)), byId.isAt(others(1)), byId.isAt(others(3))]).toEqual([false, true, false]);
});

test('the name that was found of one topic is not taken for that of the next one', () => {
  const answer = new FetchAnswer(
    answerBytes(11, [
      ['orders', [{ partition: 1 }]],
      ['payments', [{ partition: 1 }]],
    ]),
    11,
  );
  const [orders, payments] = [partitionsOf('orders')(1), partitionsOf('payments')(1)];
  answer.next();
  expect([answer.isAt(orders), answer.isAt(payments)]).toEqual([true, false]);
  answer.next();
  expect([answer.isAt(orders), answer.isAt(payments)]).toEqual([false, true]);
});

test('topics without partitions, and an answer without topics, hold nothing', () => {
  for (const version of [4, 11, 13]) {
    const name = version === 13 ? topicId(1) : 'orders';
    expect(all(answerBytes(version, [[name, []]]), version).partitions).toEqual([]);
    expect(all(answerBytes(version, []), version).partitions).toEqual([]);
  }
});

test.each([4, 7, 11, 13])(
  'an answer of version %d that ends anywhere within is refused, and read no further',
  (version) => {
    const name = version === 13 ? topicId(1) : 'orders';
    const partitions = [{ partition: 0, set: SET, aborted: [[1, 2]] as const }];
    const bytes = answerBytes(version, [[name, partitions]]);
    // The last byte of version 13 is the count of the answer's own tagged fields, which nobody needs.
    const needed = bytes.length - (version === 13 ? 1 : 0);
    for (let length = 0; length < needed; length += 1) {
      expect(() => all(bytes.subarray(0, length), version)).toThrow(
        expect.objectContaining({ code: 'INVALID_ANSWER' }),
      );
    }
  },
);

test('a count of more than one byte is read', () => {
  const partitions = Array.from({ length: 127 }, (_, partition) => ({ partition }));
  expect(all(answerBytes(13, [[topicId(1), partitions]]), 13).partitions).toHaveLength(127);
});

test('a count of aborted transactions, none of which fits into what is left, is refused before any is made', () => {
  const bytes = answerBytes(4, [['orders', [{ partition: 0 }]]]);
  bytes.writeInt32BE(1, 42);
  expect(() => all(bytes, 4)).toThrow('counts 1 items, and 4 bytes are left for them');
});

test('a count of 2^31 items, and a length beyond the end, are refused before anything is made of them', () => {
  const bytes = answerBytes(4, [['orders', [{ partition: 0 }]]]);
  bytes.writeInt32BE(2 ** 31 - 1, 4);
  expect(() => all(bytes, 4)).toThrow('counts 2147483647 items');
  const endless = Buffer.concat([Buffer.alloc(11), Buffer.alloc(6, 0xff)]);
  expect(() => all(endless, 13)).toThrow('a number of more than five bytes');
});
