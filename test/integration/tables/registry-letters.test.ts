import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { json, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { runCommand } from '../stack/run-command.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';

const NAMES = {
  schema: JSON.stringify({
    ...{ type: 'record', name: 'Name' },
    fields: [
      { name: 'id', type: 'long' },
      { name: 'name', type: 'string' },
    ],
  }),
};

/** A value in Avro's binary encoding, behind the id of its schema; both numbers are small. */
const avro = (schema: number, id: number, name: string): Buffer =>
  Buffer.concat([Buffer.from([0, 0, 0, 0, schema, 2 * id, 2 * name.length]), Buffer.from(name)]);

let registry: RegistryStub;

beforeEach(async () => {
  registry = await new RegistryStub().start();
  registry.answer('/schemas/ids/7', json(200, NAMES));
});

afterEach(() => registry.stop());

/** A consumer that has made letters of these values, and is stopped. */
async function lettersOf(values: readonly Buffer[], format: 'registry' | 'bytes', table: string) {
  const [topic, schema] = [await createTopic(), randomName('schema')];
  const run = (sql: string) => query(sql.replaceAll('?', schema));
  await run(`CREATE SCHEMA ?; CREATE TABLE ?.names (${table})`);
  await produce(
    topic,
    values.map((value) => ({ value })),
  );
  const settings = {
    tables: [{ topic, table: `${schema}.names`, ...(format === 'bytes' && { columns: { raw: '$value' } }) }],
    formats: { [topic]: format } as object,
    schemaRegistry: { url: registry.url, timeout: '2s' },
    deadLetters: { maxRatio: 1 },
  };
  const consumer = await startConsumer({ topics: [topic], schema, settings });
  await until('the letters', async () => {
    const found = await run('SELECT FROM ?.dead_letters').catch(() => []);
    if (found.length !== values.length) {
      throw new Error(consumer.logs.all.join('\n'));
    }
    return true;
  });
  consumer.kill('SIGTERM');
  await consumer.exited;
  const replay = () => runCommand(['dead-letters', 'replay', '--config', consumer.configFile], {});
  return { run, replay };
}

const letters = `SELECT "offset"::int AS at, reason, encode(value, 'hex') AS value FROM ?.dead_letters ORDER BY "offset"`;

test('a letter keeps the bytes of a record in Avro, and its replay decodes them by the schema of the registry', async () => {
  const value = avro(7, 1, 'too long');
  const { run, replay } = await lettersOf([value], 'registry', 'id bigint, name varchar(5)');
  expect(await run(letters)).toEqual([{ at: 0, reason: 'value_does_not_fit', value: value.toString('hex') }]);
  expect(await replay()).toMatchObject({ code: 1, stderr: expect.stringContaining('0 moved') });
  await run('ALTER TABLE ?.names ALTER name TYPE text');
  expect(await replay()).toMatchObject({ code: 0, stderr: expect.stringContaining('1 moved') });
  expect(await run('SELECT * FROM ?.names')).toEqual([{ id: '1', name: 'too long' }]);
  expect(await run('SELECT value FROM ?.records')).toEqual([{ value: { id: 1, name: 'too long' } }]);
  expect(await run(letters)).toEqual([]);
});

test('a letter of a schema that the registry had not is replayed once it has, and stays while the registry is away', async () => {
  const value = avro(8, 2, 'late');
  const { run, replay } = await lettersOf([avro(7, 1, 'too long'), value], 'registry', 'id bigint, name varchar(5)');
  expect(await run(letters)).toMatchObject([
    { at: 0, reason: 'value_does_not_fit' },
    { at: 1, reason: 'unknown_schema', value: value.toString('hex') },
  ]);
  await run('ALTER TABLE ?.names ALTER name TYPE text');
  registry.everything = json(503, {});
  expect(await replay()).toMatchObject({ code: 1, stderr: expect.stringContaining('answered 503') });
  expect(await run(letters)).toHaveLength(2);
  registry.everything = null;
  registry.answer('/schemas/ids/8', json(200, NAMES));
  expect(await replay()).toMatchObject({ code: 0, stderr: expect.stringContaining('2 moved') });
  expect(await run('SELECT name FROM ?.names ORDER BY id')).toEqual([{ name: 'too long' }, { name: 'late' }]);
});

test('a letter of a topic whose format is bytes is replayed byte for byte, as base64 in jsonb', async () => {
  const value = Buffer.from([0, 0xff, 0x80, 0x0a]);
  const { run, replay } = await lettersOf([value], 'bytes', 'raw jsonb CHECK (length(raw::text) < 5)');
  expect(await run(letters)).toEqual([{ at: 0, reason: 'constraint_violated', value: value.toString('hex') }]);
  await run('ALTER TABLE ?.names DROP CONSTRAINT names_raw_check');
  expect(await replay()).toMatchObject({ code: 0, stderr: expect.stringContaining('1 moved') });
  expect(await run('SELECT raw FROM ?.names')).toEqual([{ raw: value.toString('base64') }]);
  expect(await run('SELECT value FROM ?.records')).toEqual([{ value: value.toString('base64') }]);
});
