import { query } from '../stack/database.ts';
import { createTopic, produce, type TestRecord } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand, startCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

interface Place {
  readonly schema: string;
  readonly url?: string;
}

/** The environment of a command for letters in this place. */
export const placeOf = ({ schema, url = sharedDatabaseUrl() }: Place, env = {}) => ({
  env: { ...databaseEnvironment(url, schema), ...env },
});

/** `dead-letters` with these arguments, as a separate process. */
export const start = (args: readonly string[], place: Place, env = {}) =>
  startCommand(['dead-letters', ...args], placeOf(place, env));

/** The same, to its end. */
export const run = (args: readonly string[], place: Place, env = {}) =>
  runCommand(['dead-letters', ...args], placeOf(place, env));

/** A topic with records that were consumed with a limit of 20 bytes, and what became of them. */
export async function consumed(records: readonly TestRecord[], config: Readonly<Record<string, string>> = {}) {
  const topic = await createTopic({ config });
  await produce(topic, records);
  const consumer = await startConsumer({ topics: [topic], settings: { consumer: { maxValueBytes: 20 } } });
  const { schema, groupId } = consumer;
  await awaitEachOnce({ schema, topic, records: records.length });
  consumer.kill('SIGTERM');
  await consumer.exited;
  return { topic, schema, groupId };
}

/** A separate schema for a test that changes what others need, too. */
export async function copyOf(original: string): Promise<string> {
  const schema = randomName('schema');
  await query(`CREATE SCHEMA ${schema}`);
  for (const table of ['records', 'dead_letters', 'discarded_letters']) {
    await query(`CREATE TABLE ${schema}.${table} (LIKE ${original}.${table} INCLUDING ALL)`);
    await query(`INSERT INTO ${schema}.${table} SELECT * FROM ${original}.${table}`);
  }
  return schema;
}

/** A value of more than the limit. */
export const LARGE = '{"a": 1,  "large": "xxxxxxxxxxxx"}';
