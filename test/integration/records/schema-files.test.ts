import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { long, text } from '../../app/formats/avro/encoding.ts';
import { bytes, int, joined } from '../../app/formats/protobuf/encoding.ts';
import { json, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';

const MONEY = 'syntax = "proto3"; package shop; message Money { string currency = 1; int64 cents = 2; }';
const ORDER = `syntax = "proto3"; package shop;
  import "shop/money.proto"; import "google/protobuf/timestamp.proto"; import "confluent/type/decimal.proto";
  message Line { string sku = 1; int32 quantity = 2; }
  message Order { int64 id = 1; Money price = 2; google.protobuf.Timestamp at = 3; repeated Line lines = 4;
    map<string, string> labels = 5; confluent.type.Decimal total = 6; optional string note = 7; bytes raw = 8;
    State state = 9; enum State { NEW = 0; PAID = 1; } }`;
const AUDIT = JSON.stringify({
  ...{ type: 'record', name: 'Audit' },
  fields: [
    { name: 'id', type: 'long' },
    { name: 'at', type: { type: 'long', logicalType: 'timestamp-micros' } },
    { name: 'who', type: 'string' },
  ],
});

const SECONDS = 1_784_121_255;
const at = joined(int(1, SECONDS), int(2, 123_456_000));
const line = (sku: string) => bytes(4, joined(bytes(1, sku), int(2, 3)));
const orderOf = (id: bigint) =>
  joined(
    ...[int(1, id), bytes(2, joined(bytes(1, 'EUR'), int(2, 995))), bytes(3, at), line('a'), line('b')],
    ...[bytes(5, joined(bytes(1, 'env'), bytes(2, 'prod'))), bytes(8, Buffer.from([0, 0xff])), int(9, 1)],
    bytes(6, joined(bytes(1, Buffer.from([0x04, 0xd2])), int(3, 2))),
  );
const auditOf = (id: number) => joined(long(id), long(SECONDS * 1_000_000), text('ada'));
/** Behind the id of schema 700: the second message of its text. */
const registered = (value: Buffer) => joined(Buffer.from('00000002bc0202', 'hex'), value);

let registry: RegistryStub;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'schemas-'));
  await writeFile(join(folder, 'order.proto'), ORDER.replace('shop/money.proto', 'money.proto'));
  await writeFile(join(folder, 'money.proto'), MONEY);
  await writeFile(join(folder, 'audit.avsc'), AUDIT);
  registry = await new RegistryStub().start();
  const references = [{ name: 'shop/money.proto', subject: 'money', version: 1 }];
  registry.answer('/schemas/ids/700', json(200, { schemaType: 'PROTOBUF', schema: ORDER, references }));
  const money = json(200, { subject: 'money', version: 1, id: 701, schemaType: 'PROTOBUF', schema: MONEY });
  registry.answer('/subjects/money/versions/1?deleted=true', money);
});

afterAll(() => registry.stop());

const files = () => ({
  order: { value: { protobuf: join(folder, 'order.proto'), message: 'shop.Order' } },
  audit: { value: { avro: join(folder, 'audit.avsc') } },
});

test('Protobuf of a registry, Protobuf and Avro by files become records and typed rows; garbage a dead letter', async () => {
  const [orders, ticks, audits] = [await createTopic(), await createTopic(), await createTopic()];
  const schema = randomName('own');
  await query(`CREATE SCHEMA ${schema}`);
  await query(`CREATE TABLE ${schema}.orders (id bigint PRIMARY KEY, cents int, at timestamptz, first_sku text,
    skus jsonb, env text, total numeric, note text DEFAULT 'none', raw bytea, state text NOT NULL)`);
  await query(`CREATE TABLE ${schema}.audits (id bigint PRIMARY KEY, at timestamptz, who text)`);
  const columns = { cents: 'price.cents', first_sku: '/lines/0/sku', skus: 'lines', env: 'labels.env' };
  const consumer = await startConsumer({
    topics: [orders, ticks, audits],
    settings: {
      formats: { [orders]: 'registry', [ticks]: files().order, [audits]: files().audit } as object,
      schemaRegistry: { url: registry.url },
      deadLetters: { maxRatio: 1 },
      tables: [
        { topic: [orders, ticks], table: `${schema}.orders`, key: 'id', columns },
        { topic: audits, table: `${schema}.audits`, key: 'id' },
      ] as object,
    },
  });
  await consumer.waitForHealth();
  await produce(orders, [{ value: registered(orderOf(1n)) }, { value: registered(Buffer.from([0xff])) }]);
  await produce(ticks, [{ value: orderOf(2n ** 62n) }, { value: bytes(1, 'x') }]);
  await produce(audits, [{ value: auditOf(3) }, { value: Buffer.alloc(1, 0x80) }]);
  for (const topic of [orders, ticks, audits]) {
    await awaitEachOnce({ schema: consumer.schema, topic, records: 2 });
  }
  const row = {
    ...{ cents: 995, at: new Date(SECONDS * 1_000 + 123), first_sku: 'a', env: 'prod', total: '12.34', note: 'none' },
    skus: ['a', 'b'].map((sku) => ({ sku, quantity: 3 })),
    ...{ raw: Buffer.from([0, 0xff]), state: 'PAID' },
  };
  expect(await query(`SELECT * FROM ${schema}.orders ORDER BY id`)).toEqual([
    { ...row, id: '1' },
    { ...row, id: String(2n ** 62n) },
  ]);
  expect(await query(`SELECT * FROM ${schema}.audits`)).toEqual([
    { id: '3', at: new Date(SECONDS * 1_000), who: 'ada' },
  ]);
  const stored = await query(`SELECT topic, value FROM ${consumer.schema}.records ORDER BY topic, "offset"`);
  const value = {
    ...{ price: { currency: 'EUR', cents: 995 }, at: '2026-07-15T13:14:15.123456Z', labels: { env: 'prod' } },
    ...{ lines: row.skus, total: 12.34, raw: 'AP8=', state: 'PAID' },
  };
  const byTopic = new Map(stored.map((each) => [each['topic'], each['value']]));
  expect(byTopic.get(orders)).toEqual({ ...value, id: 1 });
  expect(byTopic.get(ticks)).toMatchObject(value);
  expect(byTopic.get(audits)).toMatchObject({ id: 3, who: 'ada' });
  const letters = await query(`SELECT topic, reason, error FROM ${consumer.schema}.dead_letters ORDER BY topic`);
  expect(letters).toHaveLength(3);
  expect(new Set(letters.map(({ reason }) => reason))).toEqual(new Set(['undecodable']));
  const words = Object.fromEntries(letters.map(({ topic, error }) => [topic, error]));
  expect(words[orders]).toContain('its bytes are no shop.Order of the schema 700');
  expect(words[ticks]).toContain(`its bytes are no shop.Order of the schema ${join(folder, 'order.proto')}`);
  expect(words[audits]).toContain(`its bytes are no value of the schema ${join(folder, 'audit.avsc')}`);
});

test('a file with a schema that is none, and a message that is not in one, end the start with 78 and their lines', async () => {
  const topic = await createTopic();
  const broken = join(folder, 'broken.proto');
  await writeFile(broken, 'syntax = "proto3";\nmessage M {\n  int32 = 1;\n}');
  const consumer = await startConsumer({
    topics: [topic],
    settings: {
      formats: {
        [topic]: { key: { protobuf: broken, message: 'M' }, value: { ...files().order.value, message: 'shop.Ordr' } },
      } as object,
    },
  });
  expect(await consumer.exited).toMatchObject({ code: EXIT_CODE.configuration });
  const output = consumer.logs.all.join('\n');
  expect(output).toMatch(/key\.protobuf names a file that cannot be used: .* \(line 3\).*application\.yml/);
  expect(output).toMatch(/value\.message is no message of .*did you mean shop\.Order\?/);
});
