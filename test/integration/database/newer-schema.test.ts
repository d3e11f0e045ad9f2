import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { someCases } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const TOLD = /the tables are newer than this program/;

const migrate = (schema: string) => runCommand(['migrate'], { env: databaseEnvironment(sharedDatabaseUrl(), schema) });

/** What a later version of this program might have made of the tables: additive and nullable. */
async function upgrade(schema: string): Promise<void> {
  await query(`ALTER TABLE ${schema}.records ADD COLUMN later text`);
  await query(`ALTER TABLE ${schema}.offsets ADD COLUMN later text`);
  await query(`INSERT INTO ${schema}.schema_migrations (version, name) VALUES (99, 'add later')`);
}

test.each(someCases(1, [false, true]))(
  'a schema that is newer than the program is told at the start, and written to (database.migrate: %s)',
  async (mayMigrate) => {
    const schema = randomName('schema');
    await migrate(schema);
    await upgrade(schema);
    const topic = await createTopic();
    await produce(topic, [{ value: '1' }, { value: '{"poison": ' }, { value: '3' }]);
    const consumer = await startConsumer({ topics: [topic], schema, settings: { database: { migrate: mayMigrate } } });
    const told = JSON.parse(await consumer.logs.waitFor(TOLD));
    expect(told).toMatchObject({ level: 'warn', schema, versions: ['99 (add later)'] });
    await awaitEachOnce({ schema, topic, records: 3 });
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
  },
);

test('nothing of it is told where the versions are the same', async () => {
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }]);
  const consumer = await startConsumer({ topics: [topic] });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  expect(consumer.logs.all.filter((line) => TOLD.test(line))).toEqual([]);
  consumer.kill('SIGTERM');
  await consumer.exited;
});

test('migrate tells it, too, and changes nothing', async () => {
  const schema = randomName('schema');
  expect(await migrate(schema)).toMatchObject({ code: 0, stdout: expect.not.stringContaining('newer') });
  await upgrade(schema);
  expect(await migrate(schema)).toEqual({
    code: 0,
    stderr: '',
    stdout:
      `the schema "${schema}" is up to date\n` +
      'it is newer than this program, which does not know 99 (add later) and left that as it is\n',
  });
});
