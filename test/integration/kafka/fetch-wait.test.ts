import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

/** Four times what a broker waits by default. */
const PRODUCING_MS = 2_000;

test('records gather at the broker for kafka.fetchMinBytes, no longer than kafka.fetchMaxWait', async () => {
  const topic = await createTopic();
  const { schema } = await startConsumer({
    topics: [topic],
    settings: { kafka: { fetchMinBytes: 1_000_000, fetchMaxWait: '5s' } },
  });
  await produce(topic, [{ value: '{}' }]);
  await awaitEachOnce({ schema, topic, records: 1 });
  // One is acknowledged before the next one is sent: a broker that does not gather them hands over the first alone.
  let records = 1;
  for (const end = performance.now() + PRODUCING_MS; performance.now() < end; records += 1) {
    await produce(topic, [{ value: JSON.stringify({ id: records }) }]);
  }
  await awaitEachOnce({ schema, topic, records });
  const transactions = await query(`SELECT DISTINCT xmin FROM ${schema}.records WHERE "offset" > 0`);
  // Two where the wait ended between two of them.
  expect(transactions.length).toBeLessThanOrEqual(2);
});
