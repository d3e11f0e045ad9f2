import { expect, test } from '@jest/globals';
import { loadKafkajs } from '../../../app/kafka/kafkajs/patches.ts';
import { query } from '../stack/database.ts';
import { createTopic } from '../stack/kafka-client.ts';
import { sharedBroker } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

/** `k` and a byte that UTF-8 does not have: as text it would be another key. */
const KEY = Buffer.from([0x6b, 0xff]);
const STORED = { key: { base64: 'a/8=' }, value: 'v' };

/** Produces values with one header each; kafkajs as shipped writes no key that is not text. */
async function produceWithHeader(topic: string, values: readonly string[]): Promise<void> {
  const { Kafka, logLevel } = loadKafkajs();
  const producer = new Kafka({ brokers: [sharedBroker()], logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  const headers = [{ key: KEY, value: Buffer.from('v') }] as never;
  await producer.send({ topic, messages: values.map((value) => ({ value, headers })) });
  await producer.disconnect();
}

test('the key of a header that is not UTF-8 is kept byte for byte: in a row, in a dead letter and in its topic', async () => {
  const [topic, letters] = [await createTopic(), await createTopic()];
  await produceWithHeader(topic, ['{}', 'no JSON']);
  const settings = { deadLetters: { to: 'both', topic: letters } };
  const { schema } = await startConsumer({ topics: [topic], settings });
  await awaitEachOnce({ schema, topic, records: 2 });
  expect(await query(`SELECT headers FROM ${schema}.records`)).toEqual([{ headers: [STORED] }]);
  expect(await query(`SELECT headers FROM ${schema}.dead_letters`)).toEqual([{ headers: [STORED] }]);
  const reader = await startConsumer({ topics: [letters] });
  await awaitEachOnce({ schema: reader.schema, topic: letters, records: 1 });
  const [letter] = await query<{ headers: readonly unknown[] }>(`SELECT headers FROM ${reader.schema}.dead_letters`);
  expect(letter?.headers[0]).toEqual(STORED);
});
