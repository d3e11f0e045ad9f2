import { expect, test } from '@jest/globals';
import { METRICS, type MetricDefinition } from '../../../../contract/metrics.ts';
import { aCommit } from '../../stream/records.ts';
import { runningMetrics, startedMetrics } from '../running-metrics.ts';

const { reader, listener } = await startedMetrics();

test("the names are those of the catalogue and Micrometer's where there is one, sorted", () => {
  const catalogue = Object.values<MetricDefinition>(METRICS).filter(
    ({ linuxOnly = false }) => !linuxOnly || process.platform === 'linux',
  );
  const expected = catalogue.flatMap(({ name, dotted }) => (dotted === undefined ? [name] : [name, dotted]));
  expect(reader.names).toEqual(expected.sort());
});

test('what has no series yet is not among the names', () => {
  const { names } = runningMetrics().reader;
  expect(names).toContain('process.uptime');
  expect(names).not.toContain('application.ready.time');
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
  const deadLetters = new Map([
    ['invalid_json', 2],
    ['key_not_text', 3],
  ] as const);
  listener.onCommitted(aCommit({ records: 9, deadLetters }));
  expect(reader.read('consumer_dead_letters_total', [])?.measurements).toEqual([{ statistic: 'COUNT', value: 5 }]);
  expect(reader.read('consumer_dead_letters_total', [['reason', 'invalid_json']])?.measurements).toEqual([
    { statistic: 'COUNT', value: 2 },
  ]);
});

test('a gauge is a VALUE', () => {
  expect(reader.read('db_pool_max_connections', [])?.measurements).toEqual([{ statistic: 'VALUE', value: 4 }]);
});

test('a timer is COUNT, TOTAL_TIME and MAX', () => {
  expect(runningMetrics().reader.read('jvm.gc.pause', [])?.measurements).toEqual([
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
  const values = ['array_buffers', 'external', 'native'].map(
    (id) => reader.read('jvm.memory.max', [['id', id]])?.measurements[0]?.value ?? 0,
  );
  const value = values.reduce((sum, each) => sum + each);
  expect(reading?.measurements).toEqual([{ statistic: 'VALUE', value }]);
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

test("Micrometer's name shows Micrometer's tags and Prometheus' name its labels; both filter by both", () => {
  const [dotted, plain] = ['kafka.consumer.fetch.manager.records.lag', 'kafka_consumer_fetch_manager_records_lag'];
  const tags = (name: string, ...filter: [string, string][]) =>
    reader
      .read(name, filter)
      ?.availableTags.map(({ tag }) => tag)
      .sort();
  expect(tags(dotted)).toEqual(['application', 'client.id', 'kafka.version', 'partition', 'topic']);
  expect(tags(plain)).toEqual(['application', 'client_id', 'kafka_version', 'partition', 'topic']);
  for (const label of ['client.id', 'client_id']) {
    expect(tags(dotted, [label, 'stream-consumer'])).toEqual(['application', 'kafka.version', 'partition', 'topic']);
    expect(tags(dotted, [label, 'somebody'])).toBeUndefined();
  }
});

test('requests under way are ACTIVE_TASKS and DURATION, and a histogram of anything but time has a TOTAL', () => {
  const statistics = (name: string) => reader.read(name, [])?.measurements.map(({ statistic }) => statistic);
  expect(statistics('http.server.requests.active')).toEqual(['ACTIVE_TASKS', 'DURATION', 'MAX']);
  expect(statistics('http.server.requests')).toEqual(['COUNT', 'TOTAL_TIME', 'MAX']);
  expect(statistics('consumer_processing_seconds')).toEqual(['COUNT', 'TOTAL_TIME']);
  expect(statistics('consumer_batch_records')).toEqual(['COUNT', 'TOTAL']);
});
