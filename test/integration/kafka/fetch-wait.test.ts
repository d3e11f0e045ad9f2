import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const RECORDS = 10;

test('records gather at the broker for kafka.fetchMinBytes, no longer than kafka.fetchMaxWait', async () => {
  const topic = await createTopic();
  const { schema } = await startConsumer({
    topics: [topic],
    settings: { kafka: { fetchMinBytes: 1_000_000, fetchMaxWait: '5s' } },
  });
  await produce(topic, [{ value: '{}' }]);
  await awaitEachOnce({ schema, topic, records: 1 });
  // One is acknowledged before the next one is sent: a broker that does not gather them hands over the first alone.
  for (let id = 1; id <= RECORDS; id += 1) {
    await produce(topic, [{ value: JSON.stringify({ id }) }]);
  }
  await awaitEachOnce({ schema, topic, records: 1 + RECORDS });
  const transactions = await query(`SELECT DISTINCT xmin FROM ${schema}.records WHERE "offset" > 0`);
  // Two where the wait ended between two of them.
  expect(transactions.length).toBeLessThanOrEqual(2);
});
