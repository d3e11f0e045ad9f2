import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Exposition, type ExpositionFormat } from '../../../app/metrics/exposition/exposition.ts';
import type { Labels, MetricSource, MetricSources, Sample } from '../../../app/metrics/exposition/metric-source.ts';
import { METRICS } from '../../../contract/metrics.ts';

const FORMATS: readonly ExpositionFormat[] = ['text', 'openmetrics'];

const TAGS = { application: 'orders-consumer', zone: 'a "quoted" \\ zone' };

const NONE = Object.fromEntries(Object.keys(METRICS).map((key) => [key, () => []]));

/** An exposition of these sources and no others. */
function exposed(format: ExpositionFormat, sources: Partial<MetricSources>, tags: Labels = TAGS): Exposition {
  return new Exposition(format, { ...NONE, ...sources } as MetricSources, tags);
}

const lag = (partition: string, value: number): Sample => ({ labels: { topic: 'orders', partition }, value });

const bounds = METRICS.batchRecords.buckets.map((_, index) => 2 * index);

/** A family of each type, in another order than they are written. */
const OF_EACH_TYPE: Partial<MetricSources> = {
  runtimeInfo: () => [{ labels: { version: 'v20', vendor: 'some "vendor"', runtime: 'Node.js' }, value: 1 }],
  recordsLag: () => [lag('1', 1e21), lag('0', 2e-7), lag('with "quotes", \\ and\na line', -1.5)],
  poolActive: () => [{ labels: {}, value: 0 }],
  poolIdle: () => [{ labels: {}, value: Number.NaN }],
  deadLetters: () => [
    { labels: { topic: 'orders', reason: 'key_not_text' }, value: 0 },
    { labels: { topic: 'orders', reason: 'invalid_json' }, value: 3 },
  ],
  hikariAcquire: () => [
    { labels: { pool: 'second' }, value: 0.1 + 0.2, count: 3 },
    { labels: { pool: 'with "quotes", \\ and\na line' }, value: 0, count: 0 },
  ],
  batchRecords: () => [{ labels: { topic: 'orders' }, value: 70_000, count: 31, buckets: bounds }],
};

test.each([
  ['text', 'exposition-text.txt'],
  ['openmetrics', 'exposition-openmetrics.txt'],
] as const)('a family of each type is written in %s as in %s, at each scrape', async (format, file) => {
  const golden = readFileSync(join(import.meta.dirname, 'golden', file), 'utf8');
  const exposition = exposed(format, OF_EACH_TYPE);
  for (let scrape = 1; scrape <= 3; scrape += 1) {
    expect(await exposition.write()).toBe(golden);
  }
});

const withoutHeader = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

test.each(FORMATS)('series and values are those of the moment, in the order of their source (%s)', async (format) => {
  const samples = [lag('first', 1)];
  const exposition = exposed(format, { recordsLag: () => samples }, { application: 'a', zone: 'z' });
  const line = (partition: string, value: number) =>
    `kafka_consumer_records_lag{application="a",partition="${partition}",topic="orders",zone="z"} ${value}`;
  expect(withoutHeader(await exposition.write())).toEqual([line('first', 1)]);
  samples.splice(0, 1, lag('second', 7), lag('first', 2));
  expect(withoutHeader(await exposition.write())).toEqual([line('second', 7), line('first', 2)]);
  samples.shift();
  expect(withoutHeader(await exposition.write())).toEqual([line('first', 2)]);
});

test.each(FORMATS)('a counter is what its source has counted, not the sum of the scrapes (%s)', async (format) => {
  let value = 5;
  const exposition = exposed(format, {
    deadLetters: () => [{ labels: { topic: 'orders', reason: 'invalid_json' }, value }],
  });
  expect(withoutHeader(await exposition.write())[0]).toMatch(/^consumer_dead_letters_total\{.*\} 5$/);
  value = 8;
  expect(withoutHeader(await exposition.write())[0]).toMatch(/^consumer_dead_letters_total\{.*\} 8$/);
});

test.each(['recordsLag', 'deadLetters', 'hikariAcquire', 'batchRecords', 'runtimeInfo'] as const)(
  'a family without series is not written, and no number is no series: %s',
  async (key) => {
    const labels = Object.fromEntries(METRICS[key].labels.map((label) => [label, 'x']));
    let values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const source: MetricSource = () => values.map((value) => ({ labels, value }));
    const [text, openMetrics] = [exposed('text', { [key]: source }), exposed('openmetrics', { [key]: source })];
    expect([await text.write(), await openMetrics.write()]).toEqual(['', '# EOF\n']);
    values = [1];
    expect(await text.write()).toContain(METRICS[key].name);
    expect(await openMetrics.write()).toContain(`{application="orders-consumer"`);
    values = [];
    expect([await text.write(), await openMetrics.write()]).toEqual(['', '# EOF\n']);
  },
);

test.each(FORMATS)('two scrapes at the same time each have all series (%s)', async (format) => {
  const exposition = exposed(format, OF_EACH_TYPE);
  const [one, other] = await Promise.all([exposition.write(), exposition.write()]);
  expect(one).toBe(await exposition.write());
  expect(other).toBe(one);
});

test.each(FORMATS)('a scrape that begins before another one has ended keeps to its own moment (%s)', async (format) => {
  let samples = [lag('0', 1)];
  const exposition = exposed(format, { recordsLag: () => samples, hikariAcquire: () => samples });
  const before = exposition.write();
  samples = [];
  const after = exposition.write();
  expect(withoutHeader(await before)).toHaveLength(3);
  expect(withoutHeader(await after)).toEqual([]);
});

test.each(FORMATS)('a series of the label of a tag has its own value (%s)', async (format) => {
  const sources: Partial<MetricSources> = {
    recordsLag: () => [lag('0', 1)],
    hikariAcquire: () => [{ labels: { pool: 'own' }, value: 2, count: 3 }],
  };
  const exposition = exposed(format, sources, { application: 'a', pool: 'tag', topic: 'tag' });
  expect(withoutHeader(await exposition.write())).toEqual([
    'hikaricp_connections_acquire_seconds_count{application="a",pool="own",topic="tag"} 3',
    'hikaricp_connections_acquire_seconds_sum{application="a",pool="own",topic="tag"} 2',
    'kafka_consumer_records_lag{application="a",partition="0",pool="tag",topic="orders"} 1',
  ]);
});

test('a source that fails fails the scrape, and the next one has its figure', async () => {
  let isBroken = true;
  const source = () => {
    if (isBroken) {
      throw new Error('no more files');
    }
    return [lag('0', 1)];
  };
  const exposition = exposed('text', { recordsLag: source, deadLetters: source });
  await expect(exposition.write()).rejects.toThrow('no more files');
  isBroken = false;
  await expect(exposition.write(new Set(['kafka_consumer_records_lag']))).resolves.toContain('partition="0"');
});

test.each(FORMATS)(
  'other work has its turn before each family, and changes nothing of what was read (%s)',
  async (format) => {
    const [golden, clock] = [await exposed(format, OF_EACH_TYPE).write(), { now: 0 }];
    let value = 0;
    const sources = Object.entries(OF_EACH_TYPE).map(([key, source]) => {
      return [key, () => source().map((sample) => ({ ...sample, value: sample.value + value }))];
    });
    const slow = new Exposition(format, { ...NONE, ...Object.fromEntries(sources) } as MetricSources, TAGS, () => {
      clock.now += 1;
      return clock.now;
    });
    const written = slow.write();
    let turns = 0;
    const other = (): void => {
      turns += 1;
      value += 1;
      immediate = setImmediate(other);
    };
    let immediate = setImmediate(other);
    expect(await written).toBe(golden);
    clearImmediate(immediate);
    expect(turns).toBeGreaterThan(Object.keys(OF_EACH_TYPE).length);
  },
);
