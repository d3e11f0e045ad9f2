import { describe, expect, test } from '@jest/globals';
import { ChaosProducer } from '../../../../dev/chaos/chaos-producer.ts';
import { contentRecords, readTopic } from '../../../../dev/chaos/topic-reader.ts';
import { createTopic, kafkaClient, produce } from '../../stack/kafka-client.ts';

const PARTITIONS = 3;
const SEED = 5;

/** A topic with some orders and a burst of poison in partition 2, and how to read it. */
async function producedTopic() {
  const kafka = kafkaClient();
  const topic = await createTopic({ partitions: PARTITIONS });
  const producer = new ChaosProducer({ kafka, topic, partitions: PARTITIONS, seed: SEED, rate: 1_000 });
  await producer.start();
  await producer.burst(2, 40);
  await producer.stop();
  const source = { kafka, topic, partitions: PARTITIONS, seed: SEED };
  return { topic, source, acknowledged: producer.acknowledged };
}

async function read(source: Awaited<ReturnType<typeof producedTopic>>['source']) {
  const admin = source.kafka.admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(source.topic);
  await admin.disconnect();
  const ends = new Map(offsets.map(({ partition, high }) => [partition, BigInt(high)]));
  return readTopic({ ...source, ends }, 60_000);
}

describe('what the chaos run produces, read back', () => {
  test('is each acknowledged record, with the content that its number stands for', async () => {
    const { source, acknowledged } = await producedTopic();
    const content = await read(source);
    expect(content.problems).toEqual([]);
    const numbers = [...content.numbers.values()].flat().sort((a, b) => a - b);
    const { orders, burst } = acknowledged;
    expect(burst).toBe(40);
    expect(orders).toBeGreaterThan(0);
    expect(numbers).toEqual(Array.from({ length: orders + burst }, (_, index) => index - burst));
    const records = [...contentRecords(content, { ...source, ends: new Map() })];
    expect(records.filter(({ partition, reason }) => partition === 2 && reason).length).toBeGreaterThanOrEqual(burst);
  });

  test('tells a record that has another content than its number stands for', async () => {
    const { topic, source } = await producedTopic();
    const forged = { partition: 1, key: 'k', value: '{}', headers: { 'chaos-number': '0' } };
    await produce(topic, [forged]);
    const { problems } = await read(source);
    expect(problems).toEqual([expect.stringMatching(/^1\/\d+: the record is not number 0 as it was produced$/)]);
  });
});
