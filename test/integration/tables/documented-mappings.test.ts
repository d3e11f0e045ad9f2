import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { query } from '../stack/database.ts';
import { createTopic, produce, type TestRecord } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';

const schema = randomName('documented');

afterAll(() => query(`DROP SCHEMA ${schema} CASCADE`));

const EVENT = '{"op":"c","after":{}}';
const KEYED: readonly TestRecord[] = ['{"id":1}', '{"id":2}'].map((key) => ({ key, value: EVENT }));

/** Outputs of `tables check` in the documents, by their first lines: the table, the entry, and the topic's records. */
const SHOWN = [
  {
    ...{ document: 'debezium.md', first: 'shop.public.orders -> public.orders', key: 'id', envelope: 'debezium' },
    ...{ columns: 'id bigint PRIMARY KEY, customer text NOT NULL, amount numeric(12,2)', records: KEYED },
  },
  {
    ...{ document: 'tables.md', first: 'orders -> public.orders', key: undefined, envelope: undefined },
    ...{ columns: 'id bigint NOT NULL, amount numeric(12,2), created_at timestamptz', records: [] },
  },
  {
    ...{ document: 'tables.md', first: 'customers -> public.customers', key: 'id', envelope: undefined },
    ...{ columns: 'id bigint PRIMARY KEY, name text', records: [] },
  },
  {
    ...{ document: 'which-records.md', first: 'events -> public.orders', key: 'id', envelope: undefined },
    ...{ version: 'updated_at', when: { type: ['order.created', 'order.changed'] } },
    ...{ columns: 'id bigint PRIMARY KEY, amount numeric(12,2), updated_at timestamptz NOT NULL', records: [] },
  },
] as const;

/** The lines of a document's block that begins with this one. */
function blockOf(document: string, first: string): string {
  const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', document), 'utf8');
  const block = text.split('```').find((each) => each.startsWith(`text\n${first}\n`));
  return (block ?? '').replace(/^text\n/, '').trimEnd();
}

describe('docs/ show what tables check prints', () => {
  test.each(SHOWN)('$document, $first', async ({ document, first, columns, records, ...entry }) => {
    const [shownTopic = '', shownTable = ''] = first.split(' -> ');
    const table = shownTable.replace('public', schema);
    await query(
      `CREATE SCHEMA IF NOT EXISTS ${schema}; DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (${columns})`,
    );
    const topic = await createTopic();
    await produce(topic, records);
    const env = { ...databaseEnvironment(sharedDatabaseUrl(), schema), KAFKA_BROKERS: sharedBroker() };
    const files = { 'application.yml': stringify({ tables: [{ topic, table, ...entry }] }) };
    const { code, stdout } = await runCommand(['tables', 'check'], { env, files });
    expect(code).toBe(0);
    const printed = stdout.replaceAll(table, shownTable).replaceAll(topic, shownTopic).trimEnd();
    // Schemas of other test files may hold offsets of any topic, or be closed to the role.
    const lines = printed.split('\n').filter((line) => !line.startsWith('  the schema '));
    expect(lines.join('\n')).toBe(blockOf(document, first));
  });
});
