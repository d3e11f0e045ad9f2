import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { recordsIn } from '../stack/steady-load.ts';
import { awaitPosition } from '../stack/stored-position.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { values } from '../stack/told-health.ts';
import { createNamedTopic, growTopic, recreateTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

test('a topic that is missing at the start is waited for, and read with the ones that are there', async () => {
  const [there, missing] = [await createTopic(), randomName('topic')];
  await produce(there, [{ value: '1' }]);
  const { schema, logs } = await startConsumer({ topics: [there, missing] });
  await logs.waitFor(/waiting for Kafka/);
  await createNamedTopic(missing);
  await produce(missing, [{ value: '2' }]);
  await awaitEachOnce({ schema, topic: there, records: 1 });
  await awaitEachOnce({ schema, topic: missing, records: 1 });
});

/** What a compacted topic still holds, as a reader of its own sees it. */
async function survivors(topic: string, end: number): Promise<readonly number[]> {
  const fetch = { maxWaitTimeInMs: 100, maxBytesPerPartition: 50_000_000, maxBytes: 50_000_000 };
  const reader = kafkaClient().consumer({ groupId: randomName('reader'), ...fetch });
  const offsets: number[] = [];
  await reader.connect();
  await reader.subscribe({ topic, fromBeginning: true });
  try {
    return await new Promise((resolve, reject) => {
      const eachMessage = async ({ message }: { message: { offset: string } }) => {
        offsets.push(Number(message.offset));
        if (Number(message.offset) === end - 1) resolve(offsets);
      };
      reader.run({ autoCommit: false, eachMessage }).catch(reject);
    });
  } finally {
    await reader.disconnect();
  }
}

longTest('a compacted topic with holes is read to its end, and the stored offset moves over the holes', async () => {
  const config = {
    'cleanup.policy': 'compact',
    'segment.ms': '100',
    'min.cleanable.dirty.ratio': '0.001',
    'max.compaction.lag.ms': '100',
  };
  const topic = await createTopic({ config });
  const KEYS = 50;
  // The first record of each batch stays and those behind it go: the batch then ends behind its last record. And it is so
  // large that a fetch holds no batch behind it, from which the client could tell where to go on.
  const batch = (round: number) => [
    { key: `only-${round}`, value: `"${'x'.repeat(900_000)}"` },
    ...Array.from({ length: KEYS }, (_, key) => ({ key: `key-${key}`, value: `{"round":${round}}` })),
  ];
  for (let round = 0; round < 4; round += 1) await produce(topic, batch(round));
  let end = 4 * (KEYS + 1);
  // Only a segment that has ended is cleaned, and only a further record ends it.
  const left = await until(
    'the cleaner',
    async () => {
      await produce(topic, [{ key: 'last', value: '{}' }]);
      end += 1;
      const offsets = await survivors(topic, end);
      return offsets.length < end / 2 ? offsets : undefined;
    },
    60_000,
  );
  const { schema } = await startConsumer({ topics: [topic] });
  await awaitPosition({ schema, offset: end });
  const rows = await query<{ place: number }>(`SELECT "offset"::int AS place FROM ${schema}.records`);
  const read = rows.map(({ place }) => place);
  // The cleaner may have gone on while the consumer read.
  expect(left).toEqual(expect.arrayContaining(read));
  expect(read).toEqual(expect.arrayContaining([...(await survivors(topic, end))]));
});

longTest('each Pod tells how many partitions a topic has, one that owns none as well, also when it grows', async () => {
  const topic = await createTopic({ partitions: 1 });
  const first = await startConsumer({ topics: [topic] });
  await first.waitForHealth();
  const { groupId, schema } = first;
  const pods = [first, await startConsumer({ topics: [topic], groupId, schema })];
  const told = async (metric: { readonly name: string }) =>
    (await Promise.all(pods.map((pod) => values(pod, metric)))).flat();
  const awaitTold = (partitions: number) =>
    until(`both to tell ${partitions}, and a lag of each`, async () => {
      const [counts, lags] = [await told(METRICS.topicPartitions), await told(METRICS.recordsLag)];
      return counts.join() === [partitions, partitions].join() && lags.length === partitions ? true : undefined;
    });
  await awaitTold(1);
  await growTopic(topic, 2);
  await awaitTold(2);
});

longTest(
  'a topic that grows from 6 to 12 partitions is read in all of them, the new ones from their beginning',
  async () => {
    const topic = await createTopic({ partitions: 6 });
    const { schema, waitForHealth } = await startConsumer({
      topics: [topic],
      settings: { consumer: { startFrom: 'latest' } },
    });
    await waitForHealth();
    await growTopic(topic, 12);
    const toAll = Array.from({ length: 12 }, (_, partition) => ({ partition, value: `${partition}` }));
    await produce(topic, toAll);
    // A partition that was made just now may have no leader yet: the client repeats the request for all of them.
    await awaitEachOnce({ schema, topic, records: await recordsIn(topic), timeout: 45_000 });
    await produce(topic, toAll);
    await awaitEachOnce({ schema, topic, records: await recordsIn(topic) });
  },
);

test('a topic that was deleted and made again stops the consumer, which says so, when it is shorter too', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }, { value: '2' }, { value: '3' }]);
  const consumer = await startConsumer({ topics: [topic] });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 3 });
  await recreateTopic(topic);
  await produce(topic, [{ value: '4' }]);
  expect(await consumer.exited).toMatchObject({ code: 1 });
  expect(consumer.logs.all.join('\n')).toContain('TOPIC_RECREATED');
  const { schema } = consumer;
  expect(await query(`SELECT next_offset FROM ${schema}.offsets`)).toEqual([{ next_offset: '3' }]);
});
