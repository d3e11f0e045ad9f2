import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { USUAL_WAIT } from '../../../../app/kafka/fetch/fetch-loop.ts';
import { FetchEncoder, fetchVersion } from '../../../../app/kafka/fetch/fetch-request.ts';
import { FetchedPartition, FetchedTopic } from '../../../../app/kafka/fetch/fetched-partition.ts';
import { milliseconds } from '../../../../settings/schema/duration.ts';
import { checkSettings } from '../../../../settings/settings.ts';
import { askedById, int8, int16, int32, int64, topicId } from './fetch-bytes.ts';

const { requests } = createRequire(import.meta.url)('kafkajs/src/protocol/requests') as {
  readonly requests: {
    readonly Fetch: {
      protocol(choice: { version: number }): (asked: object) => {
        readonly request: { encode(): Promise<{ readonly buffer: Buffer }> };
      };
    };
  };
};

const BOUNDS = { minBytes: 20_000, maxWaitMs: 500, maxBytes: 1_000_000, maxBytesPerPartition: 70_000 };

const [ORDERS, PAYMENTS] = [new FetchedTopic('orders'), new FetchedTopic('zahlungen-ü')];

function sought(topic: string, partition: number, offset: bigint, byte: number | null = null, leaderEpoch = -1) {
  const names = topic === 'orders' ? ORDERS : PAYMENTS;
  const fetched = new FetchedPartition({ topic, partition }, names);
  fetched.seek(offset, { topicId: byte === null ? null : topicId(byte), leaderEpoch });
  return fetched;
}

const PARTITIONS = [
  sought('orders', 3, 2n ** 40n + 7n),
  sought('orders', 0, 0n),
  ...[3_000_000_000n, 2n ** 32n - 1n, 2n ** 63n - 1n, 9_007_199_254_740_993n].map((offset, partition) =>
    sought('zahlungen-ü', partition, offset),
  ),
];

// As by a fetch that brought what is before it.
PARTITIONS[1]?.moveTo(2n ** 31n, null);

describe.each([4, 5, 6, 7, 8, 9, 10, 11])('version %d, by name', (version) => {
  test('is to the byte what kafkajs would ask', async () => {
    const topics = [
      { topic: 'orders', partitions: [PARTITIONS[0], PARTITIONS[1]] },
      { topic: 'zahlungen-ü', partitions: PARTITIONS.slice(2) },
    ].map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((of) => ({
        partition: of?.partition,
        fetchOffset: String(of?.position),
        maxBytes: BOUNDS.maxBytesPerPartition,
      })),
    }));
    const { request } = requests.Fetch.protocol({ version })({
      ...{ replicaId: -1, isolationLevel: 1, maxWaitTime: 500, minBytes: 20_000, maxBytes: BOUNDS.maxBytes, topics },
    });
    const { buffer } = await request.encode();
    expect(new FetchEncoder().encode(version, PARTITIONS, BOUNDS).equals(buffer)).toBe(true);
  });
});

test('version 13 asks by topic id and last epoch, those of one id together, with tagged fields at each end', () => {
  const partitions = [
    sought('orders', 1, 5n, 0xaa, 4),
    sought('orders', 2, 6n, 0xaa),
    sought('orders', 3, 7n, 0xbb, 0),
  ];
  const partition = (number: number, offset: number, epoch: number) =>
    Buffer.concat([int32(number), int32(-1), int64(offset), int32(epoch), int64(-1), int32(70_000), int8(0)]);
  const expected = Buffer.concat([
    int8(0), // tagged fields of the head
    ...[int32(-1), int32(500), int32(20_000), int32(1_000_000), int8(1), int32(0), int32(-1)],
    int8(3), // two topics
    ...[Buffer.alloc(16, 0xaa), int8(3), partition(1, 5, 4), partition(2, 6, -1), int8(0)],
    ...[Buffer.alloc(16, 0xbb), int8(2), partition(3, 7, 0), int8(0)],
    ...[int8(1), int8(1), int8(0)], // no forgotten topics, no rack
  ]);
  expect(new FetchEncoder().encode(13, partitions, BOUNDS).toString('hex')).toBe(expected.toString('hex'));
});

test('a fetch waits as the settings have it where nobody says how', () => {
  const checked = checkSettings({
    kafka: { brokers: ['a:1'], topics: ['orders'], groupId: 'g' },
    database: { url: 'postgresql://h/d' },
  });
  const kafka = checked.ok ? checked.value.kafka : null;
  expect(USUAL_WAIT).toEqual({
    minBytes: kafka?.fetchMinBytes,
    maxWaitMs: milliseconds(kafka?.fetchMaxWait ?? ''),
    lingerMs: milliseconds(kafka?.fetchLinger ?? ''),
  });
});

test('a broker is asked to gather no more than an answer may have', () => {
  const leastOf = (bounds: object): number =>
    new FetchEncoder().encode(13, PARTITIONS, { ...BOUNDS, ...bounds }).readInt32BE(1 + 4 + 4);
  expect(leastOf({ minBytes: 1 })).toBe(1);
  expect(leastOf({ minBytes: 1_000_001 })).toBe(1_000_000);
});

test('a request of many partitions grows the buffer, and a smaller one behind it is whole', () => {
  const encoder = new FetchEncoder();
  const many = Array.from({ length: 1_000 }, (_, partition) => sought('orders', partition, 1n, 1));
  const bytes = encoder.encode(13, many, BOUNDS);
  // A count of 1,001 takes two bytes.
  expect(bytes.length).toBe(1 + 25 + 1 + 16 + 2 + 1_000 * 33 + 1 + 3);
  const [first] = many;
  expect(encoder.encode(13, first ? [first] : [], BOUNDS).length).toBe(1 + 25 + 1 + 16 + 1 + 33 + 1 + 3);
});

test('a topic without an id has a name of two bytes of length, whatever letters it has', () => {
  const bytes = new FetchEncoder().encode(4, [sought('zahlungen-ü', 0, 0n)], BOUNDS);
  expect(bytes.includes(Buffer.concat([int16(12), Buffer.from('zahlungen-ü')]))).toBe(true);
});

test.each([
  // What Kafka 0.11, 2.1, 2.3, 2.7, 3.0, 3.1 and 4.3 offer at most.
  [5, true, 5],
  [10, true, 10],
  [11, true, 11],
  [12, true, 11],
  [12, false, 11],
  [13, true, 13],
  [18, true, 13],
  [18, false, 11],
])('a broker that offers %d is asked, with an id known: %s, by %d', (offered, isById, version) => {
  expect(fetchVersion(offered, isById)).toBe(version);
});

test('a count of partitions that takes more than one byte is written as such', () => {
  const many = Array.from({ length: 127 }, (_, partition) => sought('orders', partition, 5n, 1));
  const { asked } = askedById(Buffer.from(new FetchEncoder().encode(13, many, BOUNDS)));
  expect(asked).toEqual(many.map(({ partition }) => `1/${partition}@5e-1`));
});
