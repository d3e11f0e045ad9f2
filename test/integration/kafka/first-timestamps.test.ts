import { expect, test } from '@jest/globals';
import { createTopic, kafkaClient, produce, type TestRecord } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedBroker } from '../stack/shared-stack.ts';
import { until } from '../stack/until.ts';

const record = (timestamp: number): TestRecord => ({ value: '{"id":1}', partition: 0, timestamp });

/** The consumer's own client changes kafkajs for the process, so it is loaded when all is written. */
async function openReader() {
  const { TopicReader } = await import('../../../app/kafka/topic-reader.ts');
  const { clientOf } = await import('../../app/kafka/kafkajs/client.ts');
  return new TopicReader(clientOf({ address: sharedBroker() }));
}

async function abortRecord(topic: string, timestamp: number): Promise<void> {
  const options = { transactionalId: randomName('writer'), maxInFlightRequests: 1, idempotent: true };
  const producer = kafkaClient().producer(options);
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [{ value: '1', timestamp: String(timestamp) }] });
  await transaction.abort();
  await producer.disconnect();
  // The broker answers before it has written the mark.
  const admin = kafkaClient().admin();
  await until('the mark', async () => ((await admin.fetchTopicOffsets(topic))[0]?.high === '2' ? true : undefined));
  await admin.disconnect();
}

test('the first record of a range is one that was committed, at its start or behind it, and its time is known', async () => {
  const [batch, aborted, empty] = [await createTopic(), await createTopic(), await createTopic()];
  const [one, two, three] = [3, 1, 2].map((seconds) => record(Date.now() - seconds * 1_000));
  const later = record(Date.now() - 5_000);
  await produce(
    batch,
    [one, two, three].flatMap((each) => each ?? []),
  );
  await abortRecord(aborted, Date.now() - 10_000);
  await produce(aborted, [later]);

  const reader = await openReader();
  const firstOf = async (topic: string, start: bigint, end: bigint, signal = new AbortController().signal) =>
    [...(await reader.firstTimestamps(topic, [{ topic, partition: 0, start, end }], signal))].flat();
  expect(await firstOf(batch, 0n, 3n)).toEqual([0, one?.timestamp]);
  expect(await firstOf(batch, 1n, 3n)).toEqual([0, two?.timestamp]);
  expect(await firstOf(batch, 50n, 60n)).toEqual([0, null]);
  // An aborted record and the mark of its end.
  expect(await firstOf(aborted, 0n, 2n)).toEqual([]);
  expect(await firstOf(aborted, 0n, 3n)).toEqual([0, later.timestamp]);
  expect(await firstOf(empty, 0n, 1n, AbortSignal.timeout(50))).toEqual([]);
  await reader.close();
});
