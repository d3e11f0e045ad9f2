import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const PARTITIONS = 3;
const RECORDS = 60_000;

async function produceOrders(topic: string): Promise<void> {
  for (let from = 0; from < RECORDS; from += 5_000) {
    const records = Array.from({ length: 5_000 }, (_, index) => {
      const id = from + index;
      const value = id % 500 === 0 ? '{poison' : JSON.stringify({ id, note: 'x'.repeat(100) });
      return { key: `order-${id}`, value, partition: id % PARTITIONS };
    });
    await produce(topic, records);
  }
}

const rowsOf = async (schema: string) => {
  const [row] = await query<{ count: number }>(`SELECT count(*)::int AS count FROM ${schema}.records`).catch(() => []);
  return row?.count ?? 0;
};

test('a consumer that is killed in the middle and started again leaves every record exactly once', async () => {
  const topic = await createTopic({ partitions: PARTITIONS });
  await produceOrders(topic);
  const settings = { consumer: { maxBatchRecords: 500 }, kafka: { sessionTimeout: '6s' } };
  const first = await startConsumer({ topics: [topic], settings });
  await until('the first rows', async () => ((await rowsOf(first.schema)) > 0 ? true : undefined));
  first.kill('SIGKILL');
  await first.exited;

  const atTheKill = await rowsOf(first.schema);
  expect(atTheKill).toBeGreaterThan(0);
  expect(atTheKill).toBeLessThan(RECORDS - RECORDS / 500);

  const { schema, groupId } = first;
  const second = await startConsumer({ topics: [topic], schema, groupId, settings });
  await awaitEachOnce({ schema, topic, records: RECORDS, timeout: 60_000 });
  const dead = await query(`SELECT reason, count(*)::int AS count FROM ${schema}.dead_letters GROUP BY reason`);
  expect(dead).toEqual([{ reason: 'invalid_json', count: RECORDS / 500 }]);
  const wrong = await query(
    `SELECT * FROM ${schema}.records WHERE key <> 'order-' || (value->>'id') OR (value->>'id')::int % $1 <> partition`,
    [PARTITIONS],
  );
  expect(wrong).toEqual([]);
  second.kill('SIGTERM');
  expect(await second.exited).toMatchObject({ code: 0 });
});
