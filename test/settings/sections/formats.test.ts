import { describe, expect, test } from '@jest/globals';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { type FormatName, formatsOf, registryTopics, schemaFiles } from '../../../settings/sections/formats.ts';
import { checkSettings, settingsWarnings } from '../../../settings/settings.ts';

const REGISTRY = { schemaRegistry: { url: 'https://registry.example.com' } };

const check = (formats: object, more: object = REGISTRY) =>
  checkSettings({
    kafka: { brokers: ['k:9092'], topics: ['orders', 'shop.public.items'], groupId: 'g' },
    database: { url: 'postgresql://h/d' },
    formats,
    ...more,
  });

function checked(formats: object, more?: object) {
  const result = check(formats, more);
  if (!result.ok) {
    throw new Error(result.problems.map(describeProblem).join('\n'));
  }
  return result.value;
}

/** Problems as a person reads them. */
function problems(formats: object, more?: object): readonly string[] {
  const result = check(formats, more);
  return result.ok ? [] : result.problems.map(describeProblem);
}

describe('the formats of a topic', () => {
  test.each([
    [{}, { key: undefined, value: ['json'] }],
    [{ orders: 'registry' }, { key: undefined, value: ['registry'] }],
    [{ orders: ['registry', 'json'] }, { key: undefined, value: ['registry', 'json'] }],
    [{ orders: ['text', 'registry'] }, { key: undefined, value: ['registry', 'text'] }],
    [{ orders: ['bytes'] }, { key: undefined, value: ['bytes'] }],
    [{ orders: { key: 'registry' } }, { key: ['registry'], value: ['json'] }],
    [{ orders: { key: 'bytes', value: ['json', 'registry'] } }, { key: ['bytes'], value: ['registry', 'json'] }],
    [{ 'shop.public.items': 'text' }, { key: undefined, value: ['json'] }],
    [{ orders: { value: { avro: 'a.avsc' } } }, { key: undefined, value: [{ avro: 'a.avsc' }] }],
    [
      { orders: { key: { protobuf: 'a.proto', message: 'a.M' }, value: 'text' } },
      { key: [{ protobuf: 'a.proto', message: 'a.M' }], value: ['text'] },
    ],
  ])('are, of orders with %j, %j', (formats, expected) => {
    expect(formatsOf(checked(formats), 'orders')).toEqual(expected);
  });

  test('are those of its name, else those of a template that takes it', () => {
    const kafka = { brokers: ['k:9092'], topics: ['orders', 'shop.{schema}.{table}'], groupId: 'g' };
    const formats = { 'shop.{schema}.{table}': { key: 'registry', value: 'registry' }, 'shop.public.notes': 'text' };
    const settings = checked(formats, { ...REGISTRY, kafka });
    const both = { key: ['registry'], value: ['registry'] };
    expect(['shop.public.orders', 'shop.public.notes', 'orders'].map((topic) => formatsOf(settings, topic))).toEqual([
      both,
      { key: undefined, value: ['text'] },
      { key: undefined, value: ['json'] },
    ]);
    const others = { 'shop.{any}.{table}': 'text', shop: 'text' };
    expect(problems(others, { kafka }).map((problem) => problem.split('; ')[0]?.split('\n')[0])).toEqual([
      'formats.shop.{any}.{table} is the format of a topic that is not read',
      'formats.shop is the format of a topic that is not read',
    ]);
  });

  test('are those of no other topic that an object happens to have', () => {
    expect(formatsOf(checked({}), 'constructor')).toEqual({ key: undefined, value: ['json'] });
  });

  test('are found for a topic whose name has dots', () => {
    expect(formatsOf(checked({ 'shop.public.items': 'text' }), 'shop.public.items').value).toEqual(['text']);
  });

  test('name the files with schemas, by the setting', () => {
    const value = { protobuf: 'a.proto', message: 'M' };
    expect(schemaFiles(checked({ orders: { key: { avro: 'a' }, value }, 'shop.public.items': 'text' }, {}))).toEqual([
      { path: 'formats.orders.key', format: { avro: 'a' } },
      { path: 'formats.orders.value', format: value },
    ]);
  });

  test('name the topics that have schemas in the registry, by key or value', () => {
    expect(registryTopics(checked({ orders: { key: 'registry' }, 'shop.public.items': ['json', 'registry'] }))).toEqual(
      ['orders', 'shop.public.items'],
    );
    expect(registryTopics(checked({ orders: 'json' }))).toEqual([]);
  });
});

const FORMAT = 'one of json, registry, text, bytes; or a list of registry and another one';
const SIDE = `${FORMAT}; or a map of avro, or of protobuf and message`;
const ONE_SCHEMA = 'avro with the file of a schema; or protobuf with one, and message with the name of its message';

describe('formats that are wrong', () => {
  test.each<[object, readonly string[]]>([
    [{ orders: 'avro' }, [`formats.orders is not allowed: "avro"\n  allowed: ${FORMAT}; or a map of key and value`]],
    [{ orders: [] }, [`formats.orders is not allowed: []\n  allowed: ${FORMAT}; or a map of key and value`]],
    [{ orders: { key: 'xml' } }, [`formats.orders.key is not allowed: "xml"\n  allowed: ${SIDE}`]],
    [
      { orders: { values: 'json' } },
      ['formats.orders.values is not a known key; did you mean formats.orders.value?\n  allowed: key, value'],
    ],
    [
      { orders: ['json', 'text'], 'shop.public.items': { key: ['bytes', 'text'] } },
      [
        'formats.orders names two formats that the first byte cannot distinguish: ["json","text"]\n' +
          '  allowed: one format; or a list of registry and another one',
        'formats.shop.public.items.key names two formats that the first byte cannot distinguish: ["bytes","text"]\n' +
          '  allowed: one format; or a list of registry and another one',
      ],
    ],
    [
      { orders: { key: {}, value: { avro: 'a', protobuf: 'b', message: 'M' } } },
      [
        `formats.orders.key names no file with a schema\n  allowed: ${ONE_SCHEMA}`,
        `formats.orders.value names both a file of Avro and one of Protobuf\n  allowed: ${ONE_SCHEMA}`,
      ],
    ],
    [
      { orders: { key: { protobuf: 'b' }, value: { avro: 'a', message: 'M' } } },
      [
        'formats.orders.key.message is missing\n' +
          '  allowed: the full name of a message, such as acme.Tick: the file may define several',
        'formats.orders.value.message is set beside avro, whose file is one schema: "M"\n  allowed: nothing here',
      ],
    ],
    [
      { orders: { value: { avsc: 'a' } } },
      ['formats.orders.value.avsc is not a known key\n  allowed: avro, protobuf, message'],
    ],
    [
      { order: 'text', prices: 'bytes' },
      [
        'formats.order is the format of a topic that is not read; did you mean formats.orders?\n' +
          '  allowed: topics of kafka.topics and tables',
        'formats.prices is the format of a topic that is not read\n  allowed: topics of kafka.topics and tables',
      ],
    ],
  ])('%j', (formats, expected) => expect(problems(formats, {})).toEqual(expected));

  test('are those of a registry that no setting names', () => {
    expect(problems({ orders: { key: 'registry' } }, {})).toEqual([
      'schemaRegistry.url is missing, and formats.orders has the format registry\n' +
        '  allowed: the URL of the schema registry, such as https://registry.example.com',
    ]);
    expect(problems({ orders: 'registry' }, { schemaRegistry: {} })).toEqual([
      expect.stringContaining('schemaRegistry.url is missing\n'),
    ]);
  });

  test.each<FormatName | readonly FormatName[]>(['text', ['registry', 'bytes']])(
    'are %j for a topic whose table takes rows out of an envelope',
    (format) => {
      const tables = [
        { topic: 'shop.public.items', table: 'public.items', key: 'id', envelope: 'debezium' },
        { topic: ['shop.public.items', 'orders'], table: 'public.orders', key: 'id', envelope: 'debezium' },
      ];
      const word = [format].flat().at(-1);
      expect(problems({ orders: format }, { ...REGISTRY, tables })).toEqual([
        `tables[1].envelope is not for the topic orders: its format is ${word}, which has no fields: "debezium"\n` +
          '  allowed: nothing here, or formats.orders: json or registry',
      ]);
      expect(problems({ orders: 'registry', 'shop.public.items': 'json' }, { ...REGISTRY, tables })).toEqual([]);
    },
  );
});

test('a registry that no topic uses is a warning', () => {
  const unused = 'schemaRegistry is set, but no topic of formats has the format registry: the registry is never asked';
  expect(settingsWarnings(checked({ orders: 'text' }))).toEqual([unused]);
  expect(settingsWarnings(checked({ orders: 'registry' }))).toEqual([]);
  expect(settingsWarnings(checked({}, {}))).toEqual([]);
});
