import { expect, test } from '@jest/globals';
import { METRICS, type MetricDefinition } from '../../../contract/metrics.ts';
import { runningMetrics } from './running-metrics.ts';

const { reader, listener } = runningMetrics();

test("the names are those of the catalogue and Micrometer's where there is one, sorted", () => {
  const catalogue: MetricDefinition[] = Object.values(METRICS);
  const expected = catalogue.flatMap(({ name, dotted }) => (dotted === undefined ? [name] : [name, dotted]));
  expect(reader.names).toEqual(expected.sort());
});

test('every name can be read', () => {
  for (const name of reader.names) {
    expect(reader.read(name, [])?.name).toBe(name);
  }
});

test("a metric has the keys of Spring Boot's in their order, and a base unit only where there is one", () => {
  expect(Object.keys(reader.read('jvm.memory.used', []) ?? {})).toEqual([
    'name',
    'description',
    'baseUnit',
    'measurements',
    'availableTags',
  ]);
  expect(reader.read('process.cpu.usage', [])).not.toHaveProperty('baseUnit');
});

test('a counter is a COUNT, summed over its series', () => {
  listener.onCommitted({
    topic: 'orders',
    partition: 0,
    records: 9,
    deadLetters: new Map([
      ['invalid_json', 2],
      ['key_not_text', 3],
    ]),
    nextOffset: 9n,
  });
  expect(reader.read('consumer_dead_letters_total', [])?.measurements).toEqual([{ statistic: 'COUNT', value: 5 }]);
  expect(reader.read('consumer_dead_letters_total', [['reason', 'invalid_json']])?.measurements).toEqual([
    { statistic: 'COUNT', value: 2 },
  ]);
});

test('a gauge is a VALUE', () => {
  expect(reader.read('db_pool_max_connections', [])?.measurements).toEqual([{ statistic: 'VALUE', value: 4 }]);
});

test('a timer is COUNT, TOTAL_TIME and MAX', () => {
  expect(reader.read('jvm.gc.pause', [])?.measurements).toEqual([
    { statistic: 'COUNT', value: 0 },
    { statistic: 'TOTAL_TIME', value: 0 },
    { statistic: 'MAX', value: 0 },
  ]);
});

test('the tags that are left are those of the series that match, without the ones asked for', () => {
  const reading = reader.read('jvm.memory.max', [
    ['area', 'nonheap'],
    ['application', 'orders-consumer'],
  ]);
  expect(reading?.availableTags).toEqual([{ tag: 'id', values: ['array_buffers', 'external', 'native'] }]);
  expect(reading?.measurements).toEqual([{ statistic: 'VALUE', value: -3 }]);
});

test.each([
  ['nosuch', []],
  ['constructor', []],
  ['jvm.memory.used', [['area', 'nosuch']]],
  ['jvm.memory.used', [['nosuch', 'heap']]],
  [
    'jvm.memory.used',
    [
      ['area', 'heap'],
      ['area', 'nonheap'],
    ],
  ],
] as [string, [string, string][]][])('there is nothing for %s with tags %j', (name, tags) => {
  expect(reader.read(name, tags)).toBeUndefined();
});
