import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { ExposedFamily, type FamilyRegistry } from '../../../app/metrics/exposed-family.ts';
import type { Sample } from '../../../app/metrics/metric-source.ts';
import type { MetricDefinition } from '../../../contract/metrics.ts';

const TAGS = { application: 'orders-consumer', zone: 'a "quoted" \\ zone' };

/** Both text formats, by the registry that writes them. */
const REGISTRIES: readonly (readonly [string, () => FamilyRegistry])[] = [
  ['text', () => new Registry()],
  [
    'openmetrics',
    () => {
      const registry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>();
      registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
      return registry;
    },
  ],
];

const TYPES: readonly MetricDefinition['type'][] = ['gauge', 'counter', 'info', 'summary', 'histogram'];

const CASES = REGISTRIES.flatMap(([format, registry]) => TYPES.map((type) => ({ format, registry, type })));

const definitionOf = (type: MetricDefinition['type']): MetricDefinition => ({
  name: 'orders_seconds',
  type,
  help: 'Tells \\ what\nit is.',
  labels: ['topic'],
  ...(type === 'histogram' ? { buckets: [0.5, 1] } : {}),
});

const sample = (topic: string, value: number): Sample => ({ labels: { topic }, value, count: 3 });

const inBuckets = (of: Sample): Sample => ({ ...of, buckets: [1, 2] });

const sorted = (text: string): string[] => text.trimEnd().split('\n').sort();

test.each(CASES)('a $type is written in $format as prom-client writes it, each time', async ({ registry, type }) => {
  const registered = registry();
  const plain = [sample('first', 1.5), sample('with "quotes", \\ and\na line', 2e-7)];
  const samples = type === 'histogram' ? plain.map(inBuckets) : plain;
  const family = new ExposedFamily(definitionOf(type), () => samples, TAGS, registered);
  const expected = sorted(await registered.getSingleMetricAsString('orders_seconds'));
  for (let scrape = 1; scrape <= 3; scrape += 1) {
    expect(sorted(await family.write())).toEqual(expected);
  }
});

test.each<[MetricDefinition['type'], readonly string[]]>([
  ['gauge', ['orders_seconds 1.5']],
  ['summary', ['orders_seconds_count 3', 'orders_seconds_sum 1.5']],
  [
    'histogram',
    [
      'orders_seconds_bucket 0.5 1',
      'orders_seconds_bucket 1 2',
      'orders_seconds_bucket +Inf 3',
      'orders_seconds_count 3',
      'orders_seconds_sum 1.5',
    ],
  ],
])('each line of a %s has its own value', async (type, expected) => {
  const plain = sample('first', 1.5);
  const samples = [type === 'histogram' ? inBuckets(plain) : plain];
  const family = new ExposedFamily(definitionOf(type), () => samples, TAGS, new Registry());
  await family.write();
  const lines = String(await family.write())
    .trimEnd()
    .split('\n')
    .slice(2);
  const short = lines.map((line) =>
    line.replace(/\{.*?(?:le="([^"]*)")?,topic="\w+".*\}/, (_, le) => (le ? ` ${le}` : '')),
  );
  expect(short).toEqual(expected);
});

test.each(REGISTRIES)('the type stands where %s has it', async (format, registry) => {
  const family = new ExposedFamily(definitionOf('gauge'), () => [sample('first', 1)], TAGS, registry());
  await family.write();
  const [first = '', second = ''] = (await family.write()).split('\n');
  const [help, type] = format === 'text' ? [first, second] : [second, first];
  expect(help).toMatch(/^# HELP orders_seconds /);
  expect(type).toBe('# TYPE orders_seconds gauge');
});

test.each(REGISTRIES)('what was written of a series is kept, its value is not (%s)', async (_format, registry) => {
  const samples: Sample[] = [sample('first', 1)];
  const registered = registry();
  const family = new ExposedFamily(definitionOf('gauge'), () => samples, TAGS, registered);
  await family.write();
  const { labels } = samples[0] ?? sample('first', 1);
  samples.splice(0, 1, sample('second', 7), { labels, value: 2 });
  for (let scrape = 1; scrape <= 2; scrape += 1) {
    const lines = (await family.write()).trimEnd().split('\n').slice(2);
    expect(lines.map((line) => line.replace(/\{.*topic="(\w+)".*\}/, ' $1'))).toEqual([
      'orders_seconds second 7',
      'orders_seconds first 2',
    ]);
  }
});

test('series that left do not stay, a family without series is not written, no number is no series', async () => {
  const samples = [sample('first', 1), sample('second', 2)];
  const family = new ExposedFamily(definitionOf('gauge'), () => samples, TAGS, new Registry());
  await family.write();
  samples.shift();
  expect(await family.write()).not.toContain('first');
  samples.splice(0, 1, sample('second', Number.NaN));
  expect(await family.write()).toBe('');
});

test('two scrapes at the same time have the same series', async () => {
  const family = new ExposedFamily(definitionOf('histogram'), () => [sample('first', 1)], TAGS, new Registry());
  const [one, other] = await Promise.all([family.write(), family.write()]);
  expect(one).toBe(other);
});
