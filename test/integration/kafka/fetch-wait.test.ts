import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

/** Twice what a broker waits by default. */
const PRODUCING_MS = 2_000;

/** Of so many a broker that is asked at once hands most over alone. */
const LEAST_RECORDS = 20;

/**
 * One is acknowledged before the next one is sent.
 *
 * @returns how many there are with the one of before, and how long it took
 */
async function produceInTurn(topic: string): Promise<{ readonly records: number; readonly milliseconds: number }> {
  const began = performance.now();
  let records = 1;
  for (; records <= LEAST_RECORDS || performance.now() < began + PRODUCING_MS; records += 1) {
    await produce(topic, [{ value: JSON.stringify({ id: records }) }]);
  }
  return { records, milliseconds: performance.now() - began };
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
  const { records, milliseconds } = await produceInTurn(topic);
  await awaitEachOnce({ schema, topic, records });
  // One more where the wait ended between two of them.
  expect(await transactionsBehind(schema, 0)).toBeLessThanOrEqual(2 + milliseconds / 5_000);
});

test('records that follow one another gather for kafka.fetchLinger', async () => {
  const topic = await createTopic();
  const { schema } = await startConsumer({ topics: [topic], settings: { kafka: { fetchLinger: '1s' } } });
  await produce(topic, [{ value: '{}' }]);
  await awaitEachOnce({ schema, topic, records: 1 });
  const { records, milliseconds } = await produceInTurn(topic);
  await awaitEachOnce({ schema, topic, records });
  // Twice the number of lingers, since a record that comes to a log at rest ends the wait. On a slow machine that would
  // be nearly all of them, so at most half may come alone.
  expect(await transactionsBehind(schema, 0)).toBeLessThanOrEqual(Math.min(1 + milliseconds / 500, records / 2));
});
