import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { createNamedTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

test('topics by one rule', async () => {
  const source = randomName('source');
  const schema = randomName('replica');
  await query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id int); CREATE TABLE ${schema}.items (id int)`);
  for (const table of ['orders', 'items']) {
    await createNamedTopic(`${source}.${schema}.${table}`);
    await produce(`${source}.${schema}.${table}`, [{ value: '{"id":1}' }]);
  }
  const tables = [{ topic: `${source}.{schema}.{table}`, table: '{schema}.{table}' }];
  const consumer = await startConsumer({ topics: [], settings: { tables } });
  await consumer.waitForHealth();
  const found = await until('a row in each table', async () => {
    const rows = await query(`SELECT 1 AS id FROM ${schema}.orders, ${schema}.items`);
    return rows.length > 0 ? rows : undefined;
  });
  expect(found).toEqual([{ id: 1 }]);
});
