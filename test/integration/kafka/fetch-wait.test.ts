import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

/** Twice what a broker waits by default. */
const PRODUCING_MS = 2_000;

/** One is acknowledged before the next one is sent. @returns how many there are with those that were there before */
async function produceInTurn(topic: string, before: number): Promise<number> {
  let records = before;
  for (const end = performance.now() + PRODUCING_MS; performance.now() < end; records += 1) {
    await produce(topic, [{ value: JSON.stringify({ id: records }) }]);
  }
  return records;
}

const transactionsBehind = async (schema: string, offset: number): Promise<number> =>
  (await query(`SELECT DISTINCT xmin FROM ${schema}.records WHERE "offset" > ${offset}`)).length;

test('records gather at the broker for kafka.fetchMinBytes, no longer than kafka.fetchMaxWait', async () => {
  const topic = await createTopic();
  const { schema } = await startConsumer({
    topics: [topic],
    settings: { kafka: { fetchMinBytes: 1_000_000, fetchMaxWait: '5s' } },
  });
  await produce(topic, [{ value: '{}' }]);
  await awaitEachOnce({ schema, topic, records: 1 });
  // A broker that does not gather them hands over the first alone.
  const records = await produceInTurn(topic, 1);
  await awaitEachOnce({ schema, topic, records });
  // Two where the wait ended between two of them.
  expect(await transactionsBehind(schema, 0)).toBeLessThanOrEqual(2);
});

test('records that follow one another gather for kafka.fetchLinger', async () => {
  const topic = await createTopic();
  const { schema } = await startConsumer({ topics: [topic], settings: { kafka: { fetchLinger: '1s' } } });
  await produce(topic, [{ value: '{}' }]);
  await awaitEachOnce({ schema, topic, records: 1 });
  const produced = await produceInTurn(topic, 1);
  await awaitEachOnce({ schema, topic, records: produced });
  // A broker that is asked at once hands most of them over alone.
  expect(produced).toBeGreaterThan(20);
  expect(await transactionsBehind(schema, 0)).toBeLessThanOrEqual(1 + PRODUCING_MS / 500);
});
