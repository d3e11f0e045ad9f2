import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { json, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce, type TestRecord } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { sharedBroker, sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type Capture, capturedRecords } from './captures.ts';

const schema = randomName('shop');
const role = randomName('role');
let registry: RegistryStub;

beforeAll(async () => {
  registry = await new RegistryStub().start();
  await query(`CREATE ROLE ${role} LOGIN PASSWORD '${new URL(sharedDatabaseUrl()).password}'`);
});

afterAll(async () => {
  await registry.stop();
  await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP OWNED BY ${role}; DROP ROLE ${role}`);
});

/** Names of topics in the settings, and the records that each has. */
type Topics = Readonly<Record<string, readonly TestRecord[]>>;

interface Given {
  readonly topics?: Topics;
  readonly formats?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** An entry of `tables`, with the names of {@link Place}. */
interface Entry {
  readonly topic: string | readonly string[];
  readonly table: string;
  readonly [setting: string]: unknown;
}

/** Settings and their topics: what is called `shop` and `consumer_role` here, and each topic, has a random name. */
class Place {
  readonly #topics = new Map<string, string>();
  #settings = '';

  static async of(tables: readonly Entry[], { topics = {}, formats = {} }: Given): Promise<Place> {
    const place = new Place();
    for (const [name, records] of Object.entries(topics)) {
      const topic = await createTopic();
      place.#topics.set(name, topic);
      await (records.length > 0 && produce(topic, records));
    }
    const real = tables.map(({ topic, table, ...entry }) => ({
      ...entry,
      topic: [topic].flat().map((name) => place.topic(name)),
      table: place.real(table),
    }));
    const formatsOfTopics = Object.entries(formats).map(([name, format]) => [place.topic(name), format]);
    place.#settings = stringify({
      tables: real,
      formats: Object.fromEntries(formatsOfTopics),
      schemaRegistry: { url: registry.url, timeout: '1s' },
    });
    return place;
  }

  topic(name: string): string {
    return this.#topics.get(name) ?? name;
  }

  real(text: string): string {
    return text.replaceAll(/\bshop\b/g, schema).replaceAll('consumer_role', role);
  }

  shown(text: string): string {
    const names = [['shop', schema] as const, ['consumer_role', role] as const, ...this.#topics];
    return names.reduce((made, [name, real]) => made.replaceAll(real, name), text);
  }

  async run(args: readonly string[], env = {}) {
    const url = new URL(sharedDatabaseUrl());
    url.username = role;
    const { code, stdout, stderr } = await runCommand(['tables', ...args.map((word) => this.topic(word))], {
      env: { ...databaseEnvironment(url.href, 'unused'), KAFKA_BROKERS: sharedBroker(), ...env },
      files: { 'application.yml': this.#settings },
    });
    return { code, stdout: this.shown(stdout), stderr: this.shown(stderr) };
  }
}

/** `tables ddl` as a role that owns nothing. */
async function ddl(tables: readonly Entry[], given: Given = {}) {
  const place = await Place.of(tables, given);
  return { place, ...(await place.run(['ddl', ...(given.args ?? [])], given.env)) };
}

/** The same; then an owner runs what was printed, and `tables check` has to be content. */
async function printed(tables: readonly Entry[], given: Given = {}): Promise<string> {
  const { place, code, stdout, stderr } = await ddl(tables, given);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  await query(place.real(stdout));
  const checked = await place.run(['check'], given.env);
  expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: '' });
  const again = await place.run(['ddl', ...(given.args ?? [])], given.env);
  expect(again.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('--'))).toEqual([]);
  await query(`DROP SCHEMA ${schema} CASCADE`);
  return stdout;
}

const valuesOf = (...values: readonly unknown[]): readonly TestRecord[] =>
  values.map((value) => ({ value: typeof value === 'string' || value === null ? value : JSON.stringify(value) }));

const captured = (capture: Capture, table: string): readonly TestRecord[] =>
  capturedRecords(capture, table).map(({ key = null, value }) => ({
    key,
    value: typeof value === 'string' || Buffer.isBuffer(value) ? value : null,
  }));

const ORDERS = valuesOf(
  '{"id": 1, "amount": 12.50, "created_at": "2026-11-26T10:00:00Z", "paid": true, "note": null, "lines": [1], "seen": 1795443421556}',
  '{"id": 2, "amount": 7, "created_at": "2026-11-26T11:00:00.5+01:00", "note": null, "customer": {"name": "Ada"}, "seen": 1795443421557}',
  null,
);

describe('tables ddl prints a table that the consumer then writes into, by records:', () => {
  test('with a key, each guess marked, and statements for the role that runs it', async () => {
    const table = {
      topic: 'orders',
      table: 'shop.orders',
      key: 'id',
      columns: { customer: 'customer.name', at: '$offset' },
    };
    expect(await printed([table], { topics: { orders: ORDERS } })).toMatchSnapshot();
  });

  test('with a version, and conditions that choose among records of several types', async () => {
    const table = { topic: 'orders', table: 'shop.orders', key: 'id', version: 'seen', when: { paid: true } };
    expect(await printed([table], { topics: { orders: ORDERS } })).toMatchSnapshot();
  });

  test('of a topic of several types of events: each table has the columns of the records that it takes', async () => {
    const topics = {
      events: [
        ...valuesOf({ type: 'order', id: 1, amount: 12.5 }, { type: 'refund', id: 2, because: 'late' }),
        ...valuesOf({ type: 'order', id: 3, amount: 1 }),
      ],
    };
    const orders = { topic: 'events', table: 'shop.orders', key: 'id', when: { type: 'order' } };
    const refunds = { topic: 'events', table: 'shop.refunds', when: { type: ['refund', 'claim'] } };
    const text = await printed([orders, refunds], { topics });
    const [first = '', second = ''] = text.split(/(?=-- shop\.refunds|CREATE TABLE shop\.refunds)/).slice(-2);
    expect(first).toContain('amount numeric');
    expect(first).not.toContain('because');
    expect(second).toContain('because text');
    expect(second).not.toContain('amount');
    expect(text).toContain('2 of them match when');
    expect(text).toContain('1 of them match when');
  });

  test('and no column by records that no condition matches', async () => {
    const table = { topic: 'orders', table: 'shop.orders', when: { paid: 'never' } };
    const { stdout, code } = await ddl([table], { topics: { orders: ORDERS.slice(0, 2) } });
    expect(code).toBe(0);
    expect(stdout).toContain('REVIEW: 0 of them match when');
    expect(stdout).not.toContain('amount');
  });

  test('and what is wrong with a version beside it', async () => {
    const fields = [
      { field: 'id', type: 'int32', optional: false },
      { field: 'doc', type: 'string', name: 'io.debezium.data.Xml', optional: true },
    ];
    const value = { schema: { type: 'struct', fields }, payload: { id: 1, doc: '<a/>' } };
    const table = { topic: 'orders', table: 'shop.orders', key: 'id', envelope: 'connect' };
    const topics = { orders: valuesOf(value) };
    const { stdout } = await ddl([{ ...table, version: 'doc' }], { topics });
    expect(stdout).toContain('-- REVIEW: tables[0].version is of the type xml, whose values PostgreSQL cannot order');
    expect((await ddl([{ ...table, version: 'dock' }], { topics })).stdout).toContain('did you mean doc?');
    expect((await ddl([{ ...table, version: 'id2' }], { topics: { orders: ORDERS } })).stdout).toMatch(
      /^-- REVIEW: .*is no column of the table/m,
    );
  });

  test('without a key', async () => {
    expect(
      await printed([{ topic: 'orders', table: 'shop.orders' }], { topics: { orders: ORDERS } }),
    ).toMatchSnapshot();
  });

  test('with names that have to be quoted, and never more than a comment of what is in a record', async () => {
    const value = {
      user: 1,
      Größe: 2,
      'a"b': 3,
      'x\n); DROP TABLE y; --': 4,
      select: 'x',
      [`${'long'.repeat(16)}`]: 5,
    };
    const table = { topic: 'odd', table: 'shop.order', key: 'user' };
    expect(await printed([table], { topics: { odd: valuesOf(value) } })).toMatchSnapshot();
  });

  test('in camelCase, which not every field has a column by', async () => {
    const value = { orderId: 1, customerName: 'Ada', URL: 'x', line2: 3 };
    const table = { topic: 'camel', table: 'shop.camel', key: 'order_id', fields: 'camelCase' };
    expect(await printed([table], { topics: { camel: valuesOf(value) } })).toMatchSnapshot();
  });

  test('of several topics and entries, whose types differ', async () => {
    const tables = [
      { topic: ['eu', 'us'], table: 'shop.all' },
      { topic: 'more', table: 'shop.all', columns: { source: '$topic', raw: '$value', gone: false } },
    ];
    const topics = {
      eu: valuesOf({ id: 1, amount: 1, code: 'a', when: '2026-01-01', part: 1 }),
      us: valuesOf({ id: 2, amount: 1.5, code: 7, when: '2026-01-02', part: {} }),
      more: valuesOf({ id: 12345678901234567890n.toString() }, '{"id": 12345678901234567890}'),
    };
    expect(await printed(tables, { topics })).toMatchSnapshot();
  });

  test('with a key that the record key alone has', async () => {
    const records = [
      { key: '{"id": 7, "tenant": "a"}', value: '{"name": "Ada"}' },
      { key: '{"id": 8, "tenant": "b"}', value: null },
    ];
    const tables = [
      { topic: 'keyed', table: 'shop.pairs', key: ['tenant', 'id'] },
      {
        topic: 'plain',
        table: 'shop.plain',
        key: 'id',
        columns: { whole: '$key', agent: '$header.agent', day: { from: 'd', as: 'epoch-days' } },
      },
    ];
    const topics = { keyed: records, plain: [{ key: '17', value: '{"d": 20000}' }] };
    expect(await printed(tables, { topics })).toMatchSnapshot();
  });

  test('with a primary key by the keys of records, which is a guess', async () => {
    const entry = { topic: 'items', table: 'shop.items', key: 'primary', envelope: 'debezium' };
    const place = await Place.of([{ ...entry, columns: { item: 'line' } }], {
      topics: { items: captured('json', 'items') },
    });
    const { code, stdout } = await place.run(['ddl']);
    const lines = stdout.split('\n').filter((line) => /primary key/i.test(line));
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [
        expect.stringMatching(/^-- REVIEW: a guess for the primary key: items is keyed by order_id, item: \d+ records/),
        '  PRIMARY KEY (order_id, item)',
      ],
    });
    expect(await printed([entry], { topics: { items: captured('json', 'items') } })).toMatch(
      /PRIMARY KEY \(order_id, line\)\n\);/,
    );
  });

  test('without a primary key where no record key has fields, with a remark, and one of another entry', async () => {
    const topics = { orders: ORDERS };
    const entry = { topic: 'orders', table: 'shop.orders', key: 'primary' };
    expect((await ddl([entry], { topics })).stdout).toMatchSnapshot();
    const both = [{ ...entry, key: 'id' }, entry].map((each, nth) => ({ ...each, topic: `orders${nth}` }));
    expect(await printed(both, { topics: { orders0: ORDERS, orders1: ORDERS } })).toContain('PRIMARY KEY (id)');
  });

  test('of texts and bytes, which have no fields', async () => {
    const tables = [
      { topic: 'notes', table: 'shop.notes', columns: { note: '$value', written: '$timestamp' } },
      { topic: 'files', table: 'shop.files', columns: { content: '$value', part: '$partition' } },
    ];
    const topics = { notes: valuesOf('hello'), files: valuesOf('hello') };
    expect(await printed(tables, { topics, formats: { notes: 'text', files: 'bytes' } })).toMatchSnapshot();
  });

  test('of change events of Debezium without schemas, flattened ones, and a history of them', async () => {
    const tables = [
      {
        topic: 'items',
        table: 'shop.items',
        key: ['order_id', 'line'],
        envelope: 'debezium',
        columns: { changed: '$source.ts_ms' },
      },
      { topic: 'flat', table: 'shop.flat', key: 'id', envelope: 'debezium-flat' },
      { topic: 'history', table: 'shop.history', envelope: 'debezium', columns: { event: '$value', op: '$op' } },
    ];
    const topics = {
      items: captured('json', 'items'),
      flat: captured('flat', 'orders'),
      history: captured('json', 'orders'),
    };
    expect(await printed(tables, { topics })).toMatchSnapshot();
  });
});

describe('tables ddl prints types by schemas, which are no guesses:', () => {
  test('that Kafka Connect writes around each value', async () => {
    const tables = [{ topic: 'all_types', table: 'shop.all_types', key: 'id', envelope: 'debezium' }];
    expect(await printed(tables, { topics: { all_types: captured('schema', 'all_types') } })).toMatchSnapshot();
  });

  const AVRO = {
    type: 'record',
    name: 'Payment',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'amount', type: { type: 'bytes', logicalType: 'decimal', precision: 12, scale: 2 } },
      { name: 'status', type: { type: 'enum', name: 'Status', symbols: ['OPEN', 'PAID'] } },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-micros' } },
      { name: 'local', type: ['null', { type: 'long', logicalType: 'local-timestamp-millis' }] },
      { name: 'ref', type: { type: 'string', logicalType: 'uuid' } },
      { name: 'payer', type: ['null', { type: 'record', name: 'Payer', fields: [{ name: 'name', type: 'string' }] }] },
      { name: 'tags', type: { type: 'array', items: 'string' } },
      { name: 'either', type: ['string', 'long'] },
      { name: 'rate', type: 'float' },
    ],
  };

  const JSON_SCHEMA = {
    type: 'object',
    required: ['id', 'status'],
    properties: {
      id: { type: 'integer' },
      status: { type: 'string', enum: ["it's", 'b'] },
      at: { type: 'string', format: 'date-time' },
      amount: { type: 'number' },
      any: {},
    },
  };

  const latest = (subject: string, schemaType: string, given: object, id = 7) =>
    registry.answer(
      `/subjects/${subject}/versions/latest`,
      json(200, { subject, version: 1, id, schemaType, schema: JSON.stringify(given) }),
    );

  test('that the registry has, of values and of keys', async () => {
    const tables = [
      { topic: 'payments', table: 'shop.payments', key: 'id', columns: { payer_name: 'payer.name' } },
      { topic: 'events', table: 'shop.events', key: 'event_id' },
    ];
    const formats = { payments: 'registry', events: { key: 'registry', value: 'registry' } };
    const place = await Place.of(tables, { topics: { payments: [], events: [] }, formats });
    latest(`${place.topic('payments')}-value`, 'AVRO', AVRO);
    latest(`${place.topic('events')}-value`, 'JSON', JSON_SCHEMA);
    latest(`${place.topic('events')}-key`, 'AVRO', {
      type: 'record',
      name: 'Key',
      fields: [{ name: 'event_id', type: 'int' }],
    });
    const { code, stdout, stderr } = await place.run(['ddl']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatchSnapshot();
    await query(place.real(stdout));
    expect(await place.run(['check'])).toMatchObject({ code: 0, stderr: '' });
    await query(`DROP SCHEMA ${schema} CASCADE`);
  });

  test('that the last records name, where the registry has no latest one', async () => {
    const tables = [{ topic: 'avro', table: 'shop.avro', key: 'id', envelope: 'debezium' }];
    const formats = { avro: { key: 'registry', value: 'registry' } };
    expect(await printed(tables, { topics: { avro: captured('avro', 'orders') }, formats })).toMatchSnapshot();
  });

  test('with the primary key that the schema of the record keys has, whatever other key there is', async () => {
    const topics = { avro: captured('avro', 'items'), other: captured('avro', 'items') };
    const formats = { avro: { key: 'registry', value: 'registry' }, other: { key: 'registry', value: 'registry' } };
    const entry = { table: 'shop.avro', envelope: 'debezium' };
    const tables = [
      { ...entry, topic: 'other', key: ['line', 'sku'] },
      { ...entry, topic: 'avro', key: 'primary' },
    ];
    expect(await printed(tables, { topics, formats })).toMatchSnapshot();
  });

  test('and nothing else with --from registry; what is no schema is a remark', async () => {
    const tables = [
      { topic: 'none', table: 'shop.none' },
      { topic: 'broken', table: 'shop.broken', columns: { raw: '$value' } },
    ];
    const formats = { none: 'registry', broken: 'registry' };
    const place = await Place.of(tables, { topics: { none: captured('avro', 'orders'), broken: [] }, formats });
    latest(`${place.topic('broken')}-value`, 'AVRO', { type: 'nothing' });
    expect(await place.run(['ddl', '--from', 'registry'])).toMatchSnapshot();
  });
});

describe('tables ddl adds what a table lacks:', () => {
  test('columns, privileges on them, and remarks on what no statement mends', async () => {
    await query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id bigint, amount numeric, other int NOT NULL);
      GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT INSERT (id, amount) ON ${schema}.orders TO ${role}`);
    const table = { topic: 'orders', table: 'shop.orders', key: 'id' };
    const { code, stdout } = await ddl([table], { topics: { orders: ORDERS } });
    await query(`DROP SCHEMA ${schema} CASCADE`);
    expect({ code, stdout }).toMatchSnapshot();
  });

  test('nothing for a primary key that is there, and what the records are keyed by where there is none', async () => {
    const records = [{ key: '{"id":1,"tenant":"a"}', value: '{"id":1,"tenant":"a","name":"x"}' }];
    const run = async (constraint: string) => {
      await query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id bigint, tenant text, name text${constraint});
        GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT ALL ON ${schema}.orders TO ${role}`);
      const answer = await ddl([{ topic: 'orders', table: 'shop.orders', key: 'primary' }], {
        topics: { orders: records },
      });
      await query(`DROP SCHEMA ${schema} CASCADE`);
      return answer.stdout;
    };
    expect(await run(', PRIMARY KEY (id)')).toMatch(/^(--.*\n)*-- each field has a column\n$/);
    expect(await run('')).toMatchSnapshot();
  });

  test('nothing where each field has a column', async () => {
    await query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id bigint);
      GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT INSERT ON ${schema}.orders TO ${role}`);
    const { code, stdout } = await ddl([{ topic: 'orders', table: 'shop.orders' }], {
      topics: { orders: valuesOf({ id: 1 }) },
    });
    await query(`DROP SCHEMA ${schema} CASCADE`);
    expect({ code, stdout }).toMatchSnapshot();
  });
});

describe('tables ddl', () => {
  const TABLES = [
    { topic: 'orders', table: 'shop.orders' },
    { topic: 'empty', table: 'shop.empty' },
  ];

  test('prints the tables of the named topics alone, from as many records as it is asked for', async () => {
    const args = ['--topic', 'orders', '--records', '1', '--from', 'records'];
    const { code, stdout } = await ddl(TABLES, { topics: { orders: valuesOf({ a: 1 }, { b: 2 }), empty: [] }, args });
    expect({ code, stdout }).toMatchSnapshot();
  });

  test('says that a topic has no records', async () => {
    const { code, stdout } = await ddl(TABLES, { topics: { orders: ORDERS, empty: [] }, args: ['--topic', 'empty'] });
    expect({ code, stdout }).toMatchSnapshot();
  });

  test('is code 78 for a topic that the settings do not have, and for schemas of a topic without', async () => {
    const { code, stdout, stderr } = await ddl(TABLES, { args: ['--topic', 'order', '--from', 'registry'] });
    expect({ code, stdout, stderr }).toMatchSnapshot();
    expect((await ddl(TABLES, { args: ['--from', 'registry'] })).stderr).toMatchSnapshot();
  });

  test('says what to write where no table is set', async () => {
    const { code, stdout, stderr } = await ddl([], { env: { KAFKA_TOPICS: 'orders' } });
    expect({ code, stdout, stderr }).toMatchSnapshot();
  });

  test.each([
    ['Kafka', { KAFKA_BROKERS: '127.0.0.1:1' }, 'Kafka could not report the offsets of'],
    ['PostgreSQL', { DATABASE_URL: 'postgresql://u@127.0.0.1:1/d' }, 'PostgreSQL cannot do it for now'],
    ['the registry', { SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1' }, 'the schema registry cannot answer'],
  ])('is code 1 while %s is away, and prints nothing but that', async (_, env, words) => {
    const formats = { orders: 'SCHEMA_REGISTRY_URL' in env ? 'registry' : 'json' };
    const { code, stdout, stderr } = await ddl(TABLES.slice(0, 1), { topics: { orders: [] }, env, formats });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`stream-consumer tables ddl: ${words}`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
