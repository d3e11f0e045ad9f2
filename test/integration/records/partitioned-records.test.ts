import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const DOCUMENT = join(import.meta.dirname, '..', '..', '..', 'docs', 'schema.md');

/** The document's SQL, word for word but for the names of the schema and of the topic. */
function documentedSql(schema: string, topic: string): string {
  const [, sql] = /```sql\n-- partition the table records\n([^`]*)```/.exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
  if (sql === undefined) {
    throw new Error(`${DOCUMENT} has no SQL that begins with "-- partition the table records"`);
  }
  return sql.replaceAll('stream_consumer', schema).replaceAll("'orders'", `'${topic}'`);
}

let topic: string;
let schema: string;
let consumer: StartedConsumer;

const stopped = async () => {
  consumer.kill('SIGTERM');
  await consumer.exited;
};

const letters = async () => await query(`SELECT FROM ${schema}.dead_letters`);

beforeAll(async () => {
  topic = await createTopic();
  await produce(topic, [{ value: '1' }, { value: '2' }]);
  consumer = await startConsumer({ topics: [topic] });
  schema = consumer.schema;
  await awaitEachOnce({ schema, topic, records: 2 });
  await stopped();
  await query(documentedSql(schema, topic));
});

test('a table that was partitioned as documented keeps its rows and gets the next ones', async () => {
  await produce(topic, [{ value: '3' }, { value: '4' }]);
  consumer = await startConsumer({ topics: [topic], schema, groupId: consumer.groupId });
  await awaitEachOnce({ schema, topic, records: 4 });
  expect(await query(`SELECT FROM ${schema}.records_orders`)).toHaveLength(4);
});

longTest('another group is stopped with exit code 1, and nothing goes to the dead letters', async () => {
  const second = await startConsumer({ topics: [topic], schema });
  expect(await second.exited).toMatchObject({ code: 1 });
  expect(second.logs.all.join('\n')).toContain('RECORD_ALREADY_WRITTEN');
  expect(await letters()).toEqual([]);
});

test('a partition that is attached while the consumer runs has a key of its own, which is found', async () => {
  const other = await createTopic();
  await stopped();
  consumer = await startConsumer({ topics: [topic, other], schema, groupId: consumer.groupId });
  await consumer.waitForHealth();
  const name = 'another name altogether';
  await query(
    `CREATE TABLE ${schema}.late (LIKE ${schema}.records INCLUDING DEFAULTS, CONSTRAINT "${name}" PRIMARY KEY (topic, partition, "offset"));
     INSERT INTO ${schema}.late (topic, partition, "offset", headers) VALUES ('${other}', 0, 0, '[]');
     ALTER TABLE ${schema}.records ATTACH PARTITION ${schema}.late FOR VALUES IN ('${other}')`,
  );
  await produce(other, [{ value: '1' }]);
  expect(await consumer.exited).toMatchObject({ code: 1 });
  expect(consumer.logs.all.join('\n')).toContain('RECORD_ALREADY_WRITTEN');
  expect(await letters()).toEqual([]);
});

test('a record without a partition waits for one, and is no dead letter', async () => {
  const lonely = await createTopic();
  await query(`DROP TABLE ${schema}.records_others`);
  await produce(lonely, [{ value: '1' }, { value: '{poison' }, { value: '3' }]);
  consumer = await startConsumer({ topics: [lonely], schema, groupId: consumer.groupId });
  await consumer.logs.waitFor(/no partition of relation/);
  expect(await letters()).toEqual([]);
  await query(`CREATE TABLE ${schema}.lonely PARTITION OF ${schema}.records FOR VALUES IN ('${lonely}')`);
  await awaitEachOnce({ schema, topic: lonely, records: 3 });
  expect(await query(`SELECT FROM ${schema}.lonely`)).toHaveLength(2);
});
