import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { folderWith } from '../../app/configuration/folder.ts';
import { json } from '../../app/formats/registry/registry-stub.ts';
import { captured, DdlShop } from './ddl-shop.ts';

const shop = new DdlShop();

beforeAll(() => shop.start());

afterAll(() => shop.stop());

describe('tables ddl prints types by schemas, which are no guesses:', () => {
  test('that Kafka Connect writes around each value', async () => {
    const tables = [{ topic: 'all_types', table: 'shop.all_types', key: 'id', envelope: 'debezium' }];
    expect(await shop.printed(tables, { topics: { all_types: captured('schema', 'all_types') } })).toMatchSnapshot();
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
    shop.registry.answer(
      `/subjects/${subject}/versions/latest`,
      json(200, { subject, version: 1, id, schemaType, schema: JSON.stringify(given) }),
    );

  test('that the registry has, of values and of keys', async () => {
    const tables = [
      { topic: 'payments', table: 'shop.payments', key: 'id', columns: { payer_name: 'payer.name' } },
      { topic: 'events', table: 'shop.events', key: 'event_id' },
    ];
    const formats = { payments: 'registry', events: { key: 'registry', value: 'registry' } };
    const place = await shop.place(tables, { topics: { payments: [], events: [] }, formats });
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
    await shop.execute(stdout);
    expect(await place.run(['check'])).toMatchObject({ code: 0, stderr: '' });
    await shop.execute('DROP SCHEMA shop CASCADE');
  });

  test('that the last records name, where the registry has no latest one', async () => {
    const tables = [{ topic: 'avro', table: 'shop.avro', key: 'id', envelope: 'debezium' }];
    const formats = { avro: { key: 'registry', value: 'registry' } };
    expect(await shop.printed(tables, { topics: { avro: captured('avro', 'orders') }, formats })).toMatchSnapshot();
  });

  test('with the primary key that the schema of the record keys has, whatever other key there is', async () => {
    const topics = { avro: captured('avro', 'items'), other: captured('avro', 'items') };
    const formats = { avro: { key: 'registry', value: 'registry' }, other: { key: 'registry', value: 'registry' } };
    const entry = { table: 'shop.avro', envelope: 'debezium' };
    const tables = [
      { ...entry, topic: 'other', key: ['line', 'sku'] },
      { ...entry, topic: 'avro', key: 'primary' },
    ];
    expect(await shop.printed(tables, { topics, formats })).toMatchSnapshot();
  });

  test('and nothing else with --from registry; what is no schema is a remark', async () => {
    const tables = [
      { topic: 'none', table: 'shop.none' },
      { topic: 'broken', table: 'shop.broken', columns: { raw: '$value' } },
    ];
    const formats = { none: 'registry', broken: 'registry' };
    const place = await shop.place(tables, { topics: { none: captured('avro', 'orders'), broken: [] }, formats });
    latest(`${place.topic('broken')}-value`, 'AVRO', { type: 'nothing' });
    expect(await place.run(['ddl', '--from', 'registry'])).toMatchSnapshot();
  });

  test('of files of Avro and Protobuf, also before a topic has records', async () => {
    const folder = folderWith({
      'payment.avsc': JSON.stringify(AVRO),
      'order.proto': `syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
        message Order { int64 id = 1; google.protobuf.Timestamp at = 2; repeated string tags = 3; optional bytes raw = 4; }`,
    });
    const formats = {
      payments: { value: { avro: join(folder, 'payment.avsc') } },
      orders: { value: { protobuf: join(folder, 'order.proto'), message: 'shop.Order' } },
    };
    const tables = [
      { topic: 'payments', table: 'shop.payments', key: 'id' },
      { topic: 'orders', table: 'shop.orders', key: 'id', columns: { first_tag: '/tags/0' } },
    ];
    const text = await shop.printed(tables, { topics: { payments: [], orders: [] }, formats });
    expect(text.replaceAll(folder, '/schemas')).toMatchSnapshot();
  });
});
