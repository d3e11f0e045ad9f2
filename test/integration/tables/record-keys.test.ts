import { afterAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce, type TestRecord } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';

const schema = randomName('schema');

afterAll(() => query(`DROP SCHEMA ${schema} CASCADE`));

/** `tables check` of a replica whose topic has these records: what it says of keys. */
async function checked(records: readonly TestRecord[], broker?: string) {
  const topic = await createTopic({ partitions: 3 });
  await query(`CREATE SCHEMA IF NOT EXISTS ${schema};
    CREATE TABLE IF NOT EXISTS ${schema}.items (order_id int, line int, sku text, PRIMARY KEY (order_id, line))`);
  await produce(topic, records);
  const entry = { topic, table: `${schema}.items`, key: ['order_id', 'line'], envelope: 'debezium' };
  const env = { ...databaseEnvironment(sharedDatabaseUrl(), schema), KAFKA_BROKERS: broker ?? sharedBroker() };
  const files = { 'application.yml': stringify({ tables: [entry] }) };
  const { code, stdout, stderr } = await runCommand(['tables', 'check'], { env, files });
  const lines = stdout.split('\n').filter((line) => /keyed by|keys of|have no key/.test(line));
  return { topic, code, stderr, lines: lines.map((line) => line.trim().replaceAll(topic, 'TOPIC')) };
}

const keyed = (key: object | null): TestRecord => ({ key: key && JSON.stringify(key), value: '{"op":"c","after":{}}' });

describe('tables check compares the key of a replica with the keys of the last records', () => {
  test('and says that they are the same, whichever has a schema around it', async () => {
    const wrapped = { schema: { type: 'struct', fields: [] }, payload: { order_id: 1, line: 2 } };
    expect(await checked([keyed({ order_id: 1, line: 1 }), keyed(wrapped)])).toMatchObject({
      ...{ code: 0, stderr: '' },
      lines: ['the last 2 records of TOPIC are keyed by order_id, line, as the table is'],
    });
  });

  test('and warns of those that are keyed by something else, or by nothing', async () => {
    const { code, lines } = await checked([
      keyed({ order_id: 1 }),
      keyed({ order_id: 1, line: 1, sku: 'x' }),
      keyed(null),
    ]);
    expect(code).toBe(0);
    expect([...lines].sort()).toEqual([
      'WARNING: of the last 3 records of TOPIC some are keyed by order_id, line, sku: rows of one key may be in several partitions, without an order',
      'WARNING: of the last 3 records of TOPIC some are keyed by order_id, without line: their deletes are dead letters',
      'WARNING: of the last 3 records of TOPIC some have no key of fields: their deletes are dead letters, and rows have no order',
    ]);
  });

  test('and says that a topic has none yet, or that Kafka is away', async () => {
    expect((await checked([])).lines).toEqual(['keys of TOPIC were not compared with key: it has no records yet']);
    const { code, lines } = await checked([], 'nowhere.invalid:9092');
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [expect.stringContaining('were not compared with key: Kafka could not report')],
    });
  });

  test('and joins no group', async () => {
    const { topic } = await checked([keyed({ order_id: 1, line: 1 })]);
    const admin = kafkaClient().admin();
    await admin.connect();
    const { groups } = await admin.listGroups();
    await admin.disconnect();
    expect(groups.filter(({ groupId }) => groupId === 'g' || groupId.includes(topic))).toEqual([]);
  });
});
