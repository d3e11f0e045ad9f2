import { beforeAll, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitPosition } from '../stack/stored-position.ts';

/** What a user may put onto the table `records`, each refusing the record with the id 7 in its own way. */
const RULES = {
  'a foreign key': [
    `ALTER TABLE records ADD COLUMN id int GENERATED ALWAYS AS ((value->>'id')::int) STORED,
       ADD CONSTRAINT rule FOREIGN KEY (id) REFERENCES allowed`,
    'ALTER TABLE records DROP COLUMN id',
  ],
  'a deferred foreign key': [
    `ALTER TABLE records ADD COLUMN id int GENERATED ALWAYS AS ((value->>'id')::int) STORED,
       ADD CONSTRAINT rule FOREIGN KEY (id) REFERENCES allowed DEFERRABLE INITIALLY DEFERRED`,
    'ALTER TABLE records DROP COLUMN id',
  ],
  'a deferred constraint trigger': [
    `CREATE CONSTRAINT TRIGGER rule AFTER INSERT ON records DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION refuse_seven()`,
    'DROP TRIGGER rule ON records',
  ],
  'a BEFORE trigger that raises': [
    'CREATE TRIGGER rule BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION refuse_seven()',
    'DROP TRIGGER rule ON records',
  ],
  'an AFTER trigger that raises': [
    'CREATE TRIGGER rule AFTER INSERT ON records FOR EACH ROW EXECUTE FUNCTION refuse_seven()',
    'DROP TRIGGER rule ON records',
  ],
  'a CHECK constraint': [
    `ALTER TABLE records ADD CONSTRAINT rule CHECK ((value->>'id')::int <> 7)`,
    'ALTER TABLE records DROP CONSTRAINT rule',
  ],
} as const;

const RECORDS = 20;

let topic: string;
let consumer: StartedConsumer;
let produced = 0;

const inSchema = (sql: string) => query(`SET search_path TO ${consumer.schema}; ${sql}`);

const produceIds = async (ids: readonly number[]) => {
  await produce(
    topic,
    ids.map((id) => ({ key: `key-${id}`, value: `{"id":${id}}` })),
  );
  produced += ids.length;
};

const allIds = Array.from({ length: RECORDS }, (_, id) => id);

beforeAll(async () => {
  topic = await createTopic();
  consumer = await startConsumer({ topics: [topic] });
  await consumer.waitForHealth();
  await inSchema(`
    CREATE TABLE allowed (id int PRIMARY KEY);
    INSERT INTO allowed SELECT * FROM generate_series(0, ${RECORDS}) AS id WHERE id <> 7;
    CREATE FUNCTION refuse_seven() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.value->>'id' = '7' THEN RAISE EXCEPTION 'seven is not welcome'; END IF;
        RETURN NEW;
      END $$`);
});

/** Dead letters from here on, as far as a test looks at them. */
const deadLettersFrom = (offset: number) =>
  query(
    `SELECT "offset"::int AS place, reason, convert_from(key, 'UTF8') AS key FROM ${consumer.schema}.dead_letters
     WHERE "offset" >= $1 ORDER BY "offset"`,
    [offset],
  );

test.each(Object.entries(RULES))('a record that %s refuses is a dead letter, the others are rows', async (_, rule) => {
  const first = produced;
  const [add, drop] = rule;
  await inSchema(`DELETE FROM records; ${add}`);
  await produceIds(allIds);
  await awaitPosition({ schema: consumer.schema, offset: produced });
  expect(await deadLettersFrom(first)).toEqual([{ place: first + 7, reason: 'rejected_by_database', key: 'key-7' }]);
  expect(await query(`SELECT count(*)::int AS rows FROM ${consumer.schema}.records`)).toEqual([{ rows: RECORDS - 1 }]);
  await inSchema(drop);
});

test('a record that a unique index refuses is a dead letter, the others are rows', async () => {
  const first = produced;
  await inSchema("DELETE FROM records; CREATE UNIQUE INDEX rule ON records ((value->>'id'))");
  await produceIds([1, 2, 3, 2, 4]);
  await awaitPosition({ schema: consumer.schema, offset: produced });
  expect(await deadLettersFrom(first)).toEqual([{ place: first + 3, reason: 'rejected_by_database', key: 'key-2' }]);
  expect(await query(`SELECT count(*)::int AS rows FROM ${consumer.schema}.records`)).toEqual([{ rows: 4 }]);
  await inSchema('DROP INDEX rule');
});
