import { expect, test } from '@jest/globals';
import type { ExpositionFormat } from '../../../app/metrics/exposition.ts';
import { METRICS, type MetricDefinition } from '../../../contract/metrics.ts';
import { managementOptions } from '../management/running-management.ts';
import { runningMetrics } from './running-metrics.ts';

const CATALOGUE: readonly MetricDefinition[] = Object.values(METRICS);
const familyName = ({ name }: MetricDefinition) => name.replace(/_total$/, '');

const linesOf = async (format: ExpositionFormat, ...includedNames: string[]) =>
  (await runningMetrics().write(format, includedNames.length === 0 ? undefined : new Set(includedNames))).split('\n');

/** Families by name, with their type and the names of their samples and labels. */
async function familiesOf(format: ExpositionFormat) {
  const families = new Map<string, { type: string; series: { name: string; labels: string[] }[] }>();
  let current: { type: string; series: { name: string; labels: string[] }[] } | undefined;
  for (const line of await linesOf(format)) {
    const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== '') {
      current = { type, series: [] };
      families.set(name, current);
    }
    const [, sample, labels = ''] = /^([a-z_]+)\{(.*)\} \S+$/.exec(line) ?? [];
    if (sample !== undefined) {
      current?.series.push({ name: sample, labels: [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label) });
    }
  }
  return families;
}

test('everything exposed is in the catalogue, everything in the catalogue is exposed, with its type', async () => {
  const exposed = [...(await familiesOf('text'))].map(([name, { type }]) => ({ name, type }));
  const expected = CATALOGUE.map(({ name, type }) => ({ name, type })).sort((a, b) => (a.name < b.name ? -1 : 1));
  expect(exposed).toEqual(expected);
});

test('OpenMetrics has the same families, counters by their names without _total', async () => {
  const exposed = [...(await familiesOf('openmetrics')).keys()];
  expect(exposed.sort()).toEqual(CATALOGUE.map(familyName).sort());
});

test.each<ExpositionFormat>(['text', 'openmetrics'])(
  'every family has series, and each carries the labels of the catalogue and the common one (%s)',
  async (format) => {
    const families = await familiesOf(format);
    for (const definition of CATALOGUE) {
      const series = families.get(format === 'text' ? definition.name : familyName(definition))?.series ?? [];
      expect(series.length).toBeGreaterThan(0);
      for (const { labels } of series) {
        expect(labels.sort()).toEqual([...definition.labels, 'application'].sort());
      }
    }
  },
);

test('samples of counters end in _total, those of summaries in _count and _sum, in both formats', async () => {
  for (const format of ['text', 'openmetrics'] as const) {
    const names = [...(await familiesOf(format)).values()].flatMap(({ series }) => series.map(({ name }) => name));
    const expected = CATALOGUE.flatMap(({ name, type }) =>
      type === 'summary' ? [`${name}_count`, `${name}_sum`] : [name],
    );
    expect([...new Set(names)].sort()).toEqual(expected.sort());
  }
});

test('values are those of their sources', async () => {
  const lines = await linesOf('text');
  expect(lines).toEqual(
    expect.arrayContaining([
      'kafka_consumer_records_lag{topic="orders",partition="0",application="orders-consumer"} 4',
      'db_pool_active_connections{application="orders-consumer"} 1',
      'db_pool_idle_connections{application="orders-consumer"} 2',
      'db_pool_pending_requests{application="orders-consumer"} 3',
      'db_pool_max_connections{application="orders-consumer"} 4',
      'health_consecutive_failures{application="orders-consumer"} 2',
      'db_connection_failures_total{application="orders-consumer"} 0',
    ]),
  );
});

test('failed connections add up', async () => {
  const metrics = runningMetrics();
  metrics.databaseConnectionFailed();
  metrics.databaseConnectionFailed();
  const text = await metrics.write('text', new Set(['db_connection_failures']));
  expect(text).toContain('db_connection_failures_total{application="orders-consumer"} 2\n');
});

test('each scrape reads anew: figures do not add up from scrape to scrape', async () => {
  const metrics = runningMetrics();
  metrics.listener.onCommitted({ topic: 'orders', partition: 0, records: 7, deadLetters: new Map(), nextOffset: 7n });
  await metrics.write('text');
  expect(await metrics.write('text', new Set(['kafka_consumer_records_consumed']))).toMatch(/\} 7\n$/);
});

test('named families alone are written, in the order of the whole, and unknown names are passed over', async () => {
  const lines = await linesOf('text', 'process_uptime_seconds', 'db_pool_idle_connections', 'nosuch');
  expect(lines.filter((line) => line.startsWith('# TYPE'))).toEqual([
    '# TYPE db_pool_idle_connections gauge',
    '# TYPE process_uptime_seconds gauge',
  ]);
});

test('no family leaves nothing in text and the end mark in OpenMetrics', async () => {
  expect(await runningMetrics().write('text', new Set())).toBe('');
  expect(await runningMetrics().write('openmetrics', new Set())).toBe('# EOF\n');
});

test('OpenMetrics ends with its end mark', async () => {
  expect(await runningMetrics().write('openmetrics')).toMatch(/\n# EOF\n$/);
});

test('tags of the settings are labels of every series, and application is there without being named', async () => {
  const { settings } = managementOptions();
  const management = { ...settings.management, metrics: { tags: { team: 'a "quoted" team' } } };
  const metrics = runningMetrics({ settings: { management } });
  expect(await metrics.write('text', new Set(['system_cpu_count']))).toMatch(
    /^system_cpu_count\{application="stream-consumer",team="a \\"quoted\\" team"\} \d+$/m,
  );
});

test('a scrape of 200 partitions is a matter of milliseconds', async () => {
  const partitions = Array.from({ length: 200 }, (_, partition) => ({
    topic: 'orders',
    partition,
    nextOffset: 0n,
    lag: BigInt(partition),
  }));
  const metrics = runningMetrics({ report: () => ({ ...managementOptions().report(), partitions }) });
  await metrics.write('text');
  const began = performance.now();
  const text = await metrics.write('text');
  expect(performance.now() - began).toBeLessThan(100);
  expect(text.match(/^kafka_consumer_records_lag\{/gm)).toHaveLength(200);
});
