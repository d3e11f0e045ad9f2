import { stringify } from 'yaml';
import { RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce, type TestRecord } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';

/** What the tables of the tests call `shop`. */
export const shop = randomName('shop');
const registry = new RegistryStub();

const DDL = `
  CREATE TABLE shop.customers (id bigint PRIMARY KEY, name text NOT NULL, age int CHECK (age >= 0), note text, mail text UNIQUE);
  CREATE TABLE shop.orders (id bigint, customer bigint REFERENCES shop.customers DEFERRABLE INITIALLY DEFERRED,
    number serial, day date DEFAULT '2026-01-01');
  CREATE TABLE shop.dropping (id bigint);
  CREATE TABLE shop.deferring (id bigint, customer bigint REFERENCES shop.customers DEFERRABLE);
  CREATE TABLE shop.slow (id bigint);
  CREATE FUNCTION shop.drop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
  CREATE TRIGGER drops BEFORE INSERT ON shop.dropping FOR EACH ROW EXECUTE FUNCTION shop.drop();
  CREATE FUNCTION shop.defer() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN SET CONSTRAINTS ALL DEFERRED; RETURN NEW; END';
  CREATE TRIGGER defers BEFORE INSERT ON shop.deferring FOR EACH ROW EXECUTE FUNCTION shop.defer();
  CREATE FUNCTION shop.sleep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); RETURN NULL; END';
  CREATE TRIGGER sleeps BEFORE INSERT ON shop.slow FOR EACH STATEMENT EXECUTE FUNCTION shop.sleep()`;

/** A statement with the name that the schema has here. */
export const real = (sql: string) => sql.replaceAll('shop.', `${shop}.`);

/** The registry, and the tables that records are tried on. */
export async function openShop(): Promise<void> {
  await registry.start();
  await query(`CREATE SCHEMA ${shop}`);
  await query(real(DDL));
}

export async function closeShop(): Promise<void> {
  await registry.stop();
  await query(`DROP SCHEMA ${shop} CASCADE`);
}

interface Given {
  readonly formats?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly deadLetters?: object;
}

/** A command line of `tables dry-run`, and what hides the random names in its output. */
export function commandOf(
  tables: readonly object[],
  args: readonly string[],
  { formats = {}, env = {}, files = {}, deadLetters }: Given = {},
) {
  const settings = {
    tables,
    formats,
    schemaRegistry: { url: registry.url, timeout: '1s' },
    ...(deadLetters && { deadLetters }),
  };
  return {
    args: ['tables', 'dry-run', ...args],
    place: {
      env: {
        ...databaseEnvironment(sharedDatabaseUrl(), 'unused'),
        KAFKA_TOPICS: '',
        KAFKA_BROKERS: sharedBroker(),
        ...env,
      },
      files: { 'application.yml': real(stringify(settings)), ...files },
    },
  };
}

/** Names of topics that are random, in the order of their making. */
const topics: string[] = [];

export const shown = (output: string): string =>
  topics.reduce((made, topic, nth) => made.replaceAll(topic, `topic${nth}`), output.replaceAll(shop, 'shop'));

export async function topicOf(records: readonly TestRecord[], partitions = 1): Promise<string> {
  const topic = await createTopic({ partitions });
  topics.splice(0, topics.length, topic);
  await produce(topic, records);
  return topic;
}

export async function dryRun(tables: readonly object[], args: readonly string[] = [], given: Given = {}) {
  const command = commandOf(tables, args, given);
  const { code, stdout, stderr } = await runCommand(command.args, command.place);
  return { code, stdout: shown(stdout), stderr: shown(stderr) };
}

export const valuesOf = (...values: readonly unknown[]): readonly TestRecord[] =>
  values.map((value) => ({ value: typeof value === 'string' || value === null ? value : JSON.stringify(value) }));

export const customers = (topic: string) => ({ topic, table: 'shop.customers', key: 'id' });
