import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { query, withDatabase } from '../stack/database.ts';
import { kafkaClient, produce, type TestRecord } from '../stack/kafka-client.ts';
import { testSincePostgres } from '../stack/postgres-version.ts';
import { startCommand } from '../stack/run-command.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';
import { capturedRecords } from './captures.ts';
import {
  closeShop,
  commandOf,
  customers,
  dryRun,
  openShop,
  real,
  shop,
  shown,
  topicOf,
  valuesOf,
} from './dry-run-shop.ts';

beforeAll(openShop);

afterAll(closeShop);

const CUSTOMERS: readonly TestRecord[] = [
  { key: '1', value: '{"id": 1, "name": "Ada", "age": 36, "mail": "a@x", "city": "London"}' },
  { key: '2', value: '{"id": 2, "name": "Grace", "age": -1}' },
  { key: '3', value: '{"id": 3, "name": "Linus", "age": "old"}' },
  { key: '4', value: '{"id": 4, "name": null}' },
  { key: '5', value: '{"id": 5, "name": "Ken", "mail": "a@x"}' },
  { key: '1', value: null },
  { key: '6', value: '{"id": 6, "name": "secret-of-a-record", "age": 1' },
  { key: '7', value: '{"id": 7, "name": "Barbara", "town": "x"}' },
];

describe('tables dry-run shows what each record becomes, and writes nothing:', () => {
  test('rows and dead letters of a table with a key, in the words of the consumer', async () => {
    const topic = await topicOf(CUSTOMERS);
    const { code, stdout, stderr } = await dryRun([customers(topic)]);
    expect({ code, stderr }).toEqual({ code: 65, stderr: '' });
    expect(stdout).toMatchSnapshot();
    expect(stdout).not.toMatch(/secret-of-a-record|London/);
    expect(await dryRun([{ ...customers(topic), key: 'primary' }])).toEqual({ code, stdout, stderr });
    expect(await query(real('SELECT FROM shop.customers'))).toEqual([]);
    expect(await query("SELECT FROM pg_namespace WHERE nspname = 'unused'")).toEqual([]);
  });

  test('the same letters as the consumer then writes', async () => {
    const topic = await topicOf(CUSTOMERS);
    const { stdout } = await dryRun([customers(topic)], ['--json']);
    const tried = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      .filter(({ outcome }) => outcome === 'dead letter');
    const table = { ...customers(topic), table: `${shop}.customers` };
    const consumer = await startConsumer({
      topics: [],
      settings: { tables: [table] as object, deadLetters: { maxRatio: 1 } },
    });
    await consumer.waitForHealth();
    await until('the letters', async () => {
      const rows = await query<Record<string, unknown>>(
        `SELECT "offset"::int, reason, error, target, target_column AS "targetColumn" FROM ${consumer.schema}.dead_letters ORDER BY 1`,
      );
      return rows.length >= tried.length ? rows : undefined;
    }).then((rows) => {
      const inShop = rows.map((row) => JSON.parse(shown(JSON.stringify(row))));
      expect(inShop).toEqual(
        tried.map(({ offset, reason, error, target, targetColumn }) => ({
          offset,
          reason,
          error,
          target,
          targetColumn,
        })),
      );
    });
    consumer.kill('SIGTERM');
    await consumer.exited;
    await query(real('DELETE FROM shop.customers'));
  });

  test('lines of JSON, with keys and values where they are asked for', async () => {
    const topic = await topicOf([...CUSTOMERS.slice(0, 3), { key: Buffer.from([0xff]), value: null }]);
    const { code, stdout } = await dryRun([customers(topic)], ['--json', '--values']);
    expect({ code, stdout }).toMatchSnapshot();
    expect((await dryRun([customers(topic)], ['--values'])).stdout).toMatchSnapshot();
  });

  testSincePostgres(
    16,
    'rows that are appended, whose deferred constraints are checked; code 0 where all would be stored',
    async () => {
      const topic = await topicOf(valuesOf({ id: 1 }, { id: 2, day: null }));
      const table = { topic, table: 'shop.orders' };
      const before = await query<{ last: string }>(real(`SELECT last_value AS last FROM shop.orders_number_seq`));
      expect(await dryRun([table])).toMatchSnapshot();
      await produce(topic, valuesOf({ id: 3, customer: 99 }, { id: 4 }));
      expect(await dryRun([table], ['--records', '2'])).toMatchSnapshot();
      expect(await query(real('SELECT FROM shop.orders'))).toEqual([]);
      expect(await query(real(`SELECT last_value AS last FROM shop.orders_number_seq`))).not.toEqual(before);
    },
  );

  test('records of the table records, which the consumer may have stored by now', async () => {
    const topic = await topicOf([...valuesOf({ id: 1 }, '{"no json'), { key: Buffer.from([0xff]), value: '2' }]);
    const consumer = await startConsumer({ topics: [topic], settings: { deadLetters: { maxRatio: 1 } } });
    await consumer.waitForHealth();
    await until('the records', async () => {
      const rows = await query(`SELECT FROM ${consumer.schema}.dead_letters`);
      return rows.length === 2 ? rows : undefined;
    });
    const env = { KAFKA_TOPICS: topic, DATABASE_SCHEMA: consumer.schema };
    expect(await dryRun([], [], { env })).toMatchSnapshot();
    consumer.kill('SIGTERM');
    await consumer.exited;
    const [{ count = '' } = {}] = await query<{ count: string }>(`SELECT count(*) FROM ${consumer.schema}.records`);
    expect(count).toBe('1');
  });

  test('of several tables those that take the record, as when has it, and what none takes', async () => {
    const topic = await topicOf([
      { key: '1', value: '{"id": 1, "name": "Ada"}' },
      { key: '1', value: null },
      ...valuesOf({ id: 2, name: 'Grace', kind: 'person' }, { id: 3, kind: 'order' }, { id: 4, kind: 'fee' }),
    ]);
    const tables = [
      { ...customers(topic), when: { kind: 'person' } },
      { topic, table: 'shop.orders', when: { kind: 'order' } },
    ];
    expect(await dryRun(tables)).toMatchSnapshot();
    const refusing = [{ ...customers(topic), when: { kind: 'person' }, unmatched: 'dead-letter' }];
    const { code, stdout } = await dryRun(refusing, ['--json']);
    expect(code).toBe(65);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(
      lines.map(({ outcome, reason, tables: rows }) => reason ?? (rows ? [outcome, rows.length] : 'the summary')),
    ).toEqual(['unmatched', ['stored', 1], ['stored', 1], 'unmatched', 'unmatched', 'the summary']);
    const passing = await dryRun([{ ...customers(topic), when: { kind: 'person' } }], ['--json']);
    expect(passing.stdout).toContain('"offset":3,"outcome":"unmatched","tables":[]');
    expect(JSON.parse(passing.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
      stored: 2,
      deadLetters: 0,
      unmatched: 3,
    });
  });

  test('change events in Avro, with what the source did not send, and a batch of several tables', async () => {
    const records = capturedRecords('avro', 'orders').map(({ key = null, value }) => ({ key, value })) as TestRecord[];
    const topic = await topicOf(records);
    await query(real('CREATE TABLE shop.replica (id int PRIMARY KEY, note text DEFAULT 7, other text)'));
    const tables = [{ topic, table: 'shop.replica', key: 'id', envelope: 'debezium' }];
    const given = { formats: { [topic]: { key: 'registry', value: 'registry' } } };
    expect(await dryRun(tables, [], given)).toMatchSnapshot();
  });

  test('from the first record, or from an offset of each partition on', async () => {
    const topic = await topicOf(
      [0, 1, 2, 3, 4, 5].map((id) => ({ value: JSON.stringify({ id }), partition: id % 2 })),
      2,
    );
    const offsets = async (...args: readonly string[]) => {
      const { stdout } = await dryRun([{ topic, table: 'shop.orders' }], args);
      return [...stdout.matchAll(/^topic0\/(\d) offset (\d):/gm)].map(
        ([, partition, offset]) => `${partition}/${offset}`,
      );
    };
    expect(await offsets('--from', 'earliest', '--records', '3')).toEqual(['0/0', '0/1', '1/0']);
    expect(await offsets('--from', 'latest', '--records', '2')).toEqual(['0/2', '1/2']);
    expect(await offsets('--from', '1')).toEqual(['0/1', '0/2', '1/1', '1/2']);
    expect(await offsets('--from', '99')).toEqual([]);
  });

  test('and joins no group and commits nothing', async () => {
    const topic = await topicOf(valuesOf({ id: 1 }));
    await dryRun([{ topic, table: 'shop.orders' }]);
    const admin = kafkaClient().admin();
    await admin.connect();
    const { groups } = await admin.listGroups();
    await admin.disconnect();
    expect(groups.filter(({ groupId }) => groupId === 'g')).toEqual([]);
  });
});

describe('tables dry-run --sample tries a file in the place of Kafka:', () => {
  const nowhere = { KAFKA_BROKERS: 'nowhere.invalid:9092' };

  test('records as texts, as JSON and as bytes', async () => {
    const lines = [
      '{"key": "1", "value": {"id": 12345678901234567, "name": "Ada"}}',
      '{"key": {"id": 2}, "value": "{\\"id\\": 2, \\"name\\": 5}", "partition": 1, "offset": 7, "timestamp": 0}',
      '{"value": {"base64": "eyJpZCI6IDN9"}, "headers": [{"key": "h", "value": "v"}], "offset": "9", "partition": 1}',
      '',
      '{"key": "2", "value": null, "partition": 1}',
    ];
    const given = { env: nowhere, files: { 'sample.jsonl': lines.join('\n') } };
    const { code, stdout, stderr } = await dryRun(
      [customers('customers')],
      ['--sample', 'sample.jsonl', '--values'],
      given,
    );
    expect({ code, stdout, stderr }).toMatchSnapshot();
  });

  test('and reports all lines that are none, with code 78', async () => {
    const lines = [
      'no json',
      '[]',
      '{"key": 1}',
      '{"value": 1, "payload": 2}',
      '{"value": 1, "topic": "customer"}',
      '{"value": 1, "offset": "x"}',
      '{"value": 1, "offset": 3, "topic": "b"}',
      '{"value": 1, "offset": 3, "topic": "b"}',
      '{"value": 1, "headers": {}}',
    ];
    const given = { env: nowhere, files: { 'sample.jsonl': lines.join('\n') } };
    expect(await dryRun([customers('a'), customers('b')], ['--sample', 'sample.jsonl'], given)).toMatchSnapshot();
    expect(await dryRun([customers('a')], ['--sample', 'none.jsonl'], given)).toMatchSnapshot();
  });
});

describe('tables dry-run ends', () => {
  test('with code 1 where a trigger drops rows, or a constraint is violated at the end alone', async () => {
    const dropping = await topicOf(valuesOf({ id: 1 }));
    const dropped = await dryRun([{ topic: dropping, table: 'shop.dropping' }]);
    expect(dropped).toMatchObject({ code: 1, stdout: '' });
    expect(dropped.stderr).toMatch(/^stream-consumer tables dry-run: .*shop\.dropping.*drops/);
    const deferring = await topicOf(valuesOf({ id: 1, customer: 99 }));
    const deferred = await dryRun([{ topic: deferring, table: 'shop.deferring' }]);
    expect(deferred.code).toBe(1);
    expect(deferred.stderr).toContain('23503');
  });

  test('with code 1 after a second in which a lock did not come, however long a statement may take', async () => {
    const topic = await topicOf(valuesOf({ id: 1 }));
    await withDatabase(async ({ client }) => {
      await client.query(real('BEGIN; LOCK TABLE shop.orders IN ACCESS EXCLUSIVE MODE'));
      const given = { env: { DATABASE_STATEMENT_TIMEOUT: '10m' } };
      const { code, stdout, stderr } = await dryRun([{ topic, table: 'shop.orders' }], [], given);
      await client.query('ROLLBACK');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/lock timeout.*Another transaction holds what this one waits for/);
    });
  });

  test('with code 78 for tables that do not fit, and for topics that are not read', async () => {
    const topic = await topicOf(valuesOf({ id: 1 }));
    const wrong = await dryRun([{ topic, table: 'shop.orders', key: 'id' }]);
    expect(wrong).toMatchObject({ code: 78, stdout: '' });
    expect(wrong.stderr).toContain('has no unique index that rows can be found by');
    expect(await dryRun([{ topic, table: 'shop.orders' }], ['--topic', `${topic}s`])).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('did you mean topic0?'),
    });
  });

  test.each([
    ['Kafka', { KAFKA_BROKERS: '127.0.0.1:1' }, 'Kafka could not report the offsets of'],
    ['PostgreSQL', { DATABASE_URL: 'postgresql://u@127.0.0.1:1/d' }, 'PostgreSQL cannot do it for now'],
    ['the registry', { SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1' }, 'the schema registry cannot answer'],
  ])('with code 1 while %s is away', async (_, env, words) => {
    const isOfRegistry = 'SCHEMA_REGISTRY_URL' in env;
    const topic = await topicOf([{ value: Buffer.from(`${isOfRegistry ? '\0\0\0\0\u0007' : ''}{"id": 1}`) }]);
    const given = { env, formats: { [topic]: isOfRegistry ? 'registry' : 'json' } };
    const { code, stdout, stderr } = await dryRun([{ topic, table: 'shop.orders' }], [], given);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`stream-consumer tables dry-run: ${words}`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('in order at Ctrl-C: the transaction is rolled back, and the code is 130', async () => {
    const topic = await topicOf(valuesOf({ id: 1 }));
    const { args, place } = commandOf([{ topic, table: 'shop.slow' }], []);
    const child = startCommand(args, place);
    await until('the statement that sleeps', async () => {
      const found = await query(
        `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%${shop}"."slow%'`,
      );
      return found.length > 0 ? found : undefined;
    });
    child.kill('SIGINT');
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect({ code, stderr }).toEqual({ code: 130, stderr: 'interrupted\n' });
    expect(await query(real('SELECT FROM shop.slow'))).toEqual([]);
  });
});
