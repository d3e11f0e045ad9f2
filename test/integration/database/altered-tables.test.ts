import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitPosition } from '../stack/stored-position.ts';

/** A schema with tables that this statement was done to, its search path being the schema. */
async function alteredSchema(sql: string): Promise<string> {
  const schema = randomName('schema');
  await migrate(schema);
  await query(`SET search_path TO ${schema}; ${sql}`);
  return schema;
}

const migrate = (schema: string) => runCommand(['migrate'], { env: databaseEnvironment(sharedDatabaseUrl(), schema) });

test.each(
  someCases(1, [
    ['text', ''],
    ['json', ''],
    ['bigint', 'USING NULL'],
  ]),
)('a consumer whose values would go into a column of type %s ends with code 1 and says so', async (type, using) => {
  const topic = await createTopic();
  await produce(topic, [{ value: '{"a":1}' }]);
  const schema = await alteredSchema(`ALTER TABLE records ALTER value TYPE ${type} ${using}`);
  const consumer = await startConsumer({ topics: [topic], schema });
  expect(await consumer.exited).toMatchObject({ code: 1 });
  const line = JSON.parse(consumer.logs.all.find((entry) => entry.includes('"fatal"')) ?? '{}');
  expect(line).toMatchObject({ code: 'TABLE_MISMATCH' });
  expect(line.msg).toContain(`records."value" is ${type}, and has to be jsonb`);
  expect(await query(`SELECT FROM ${schema}.records UNION ALL SELECT FROM ${schema}.dead_letters`)).toEqual([]);
  expect(await migrate(schema)).toMatchObject({ code: 1, stderr: expect.stringContaining('has to be jsonb') });
});

test('rows that a trigger is allowed to drop are logged and counted, and the offset moves over them', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }, { value: '0' }, { value: '0' }, { value: '4' }]);
  const schema = await alteredSchema(`
    CREATE FUNCTION filter() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.value = '0' THEN RETURN NULL; END IF; RETURN NEW; END $$;
    CREATE TRIGGER filters BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION filter()`);
  const refused = await startConsumer({ topics: [topic], schema });
  expect(await refused.exited).toMatchObject({ code: 1 });
  expect(refused.logs.all.join('\n')).toContain('"code":"ROWS_DROPPED"');
  const settings = { records: { onDroppedRows: 'allow' } };
  const consumer = await startConsumer({ topics: [topic], schema, groupId: refused.groupId, settings });
  await awaitPosition({ schema, offset: 4 });
  expect(JSON.parse(await consumer.logs.waitFor(/a trigger dropped rows/))).toMatchObject({ topic, rows: 2 });
  const answer = await consumer.get(`${consumer.endpoint.metricsPath}/${METRICS.rowsDropped.name}`);
  expect(await answer.json()).toMatchObject({ measurements: [{ value: 2 }] });
  expect(await query(`SELECT "offset" FROM ${schema}.records ORDER BY "offset"`)).toEqual([
    { offset: '0' },
    { offset: '3' },
  ]);
});
