import { expect, test } from '@jest/globals';
import type { ExpositionFormat } from '../../../../app/metrics/exposition/exposition.ts';
import { DEAD_LETTER_REASON } from '../../../../contract/dead-letter-reasons.ts';
import {
  ERROR_REASON,
  LOG_LEVELS,
  TABLE_OPERATIONS,
  TRANSACTION_OUTCOMES,
  WRITE_METHODS,
} from '../../../../contract/metrics/definition.ts';
import { METRICS, type MetricDefinition, SERIES_BUDGET } from '../../../../contract/metrics.ts';
import { managementOptions } from '../../management/running-management.ts';
import { aCommit } from '../../stream/records.ts';
import { runningMetrics, startedMetrics } from '../running-metrics.ts';

/** The families that exist on this system. */
const CATALOGUE = Object.values<MetricDefinition>(METRICS).filter(
  ({ linuxOnly = false }) => !linuxOnly || process.platform === 'linux',
);

const CLOSED_LABELS: Readonly<Record<string, readonly string[]>> = {
  [METRICS.transactions.name]: TRANSACTION_OUTCOMES,
  [METRICS.errors.name]: Object.keys(ERROR_REASON),
  [METRICS.deadLetters.name]: Object.keys(DEAD_LETTER_REASON),
  [METRICS.rowsWritten.name]: WRITE_METHODS,
  [METRICS.tableDeadLetters.name]: Object.keys(DEAD_LETTER_REASON),
  [METRICS.tableRecords.name]: TABLE_OPERATIONS,
  [METRICS.logEvents.name]: LOG_LEVELS,
};

/** OpenMetrics names a family without the suffix of its samples. */
const familyName = ({ name, type }: MetricDefinition) => name.replace(type === 'info' ? /_info$/ : /_total$/, '');

const ENDINGS: Partial<Record<MetricDefinition['type'], readonly string[]>> = {
  summary: ['_count', '_sum'],
  histogram: ['_bucket', '_count', '_sum'],
};

const linesOf = async (format: ExpositionFormat, ...includedNames: string[]) =>
  (await (await startedMetrics()).write(format, includedNames.length === 0 ? undefined : new Set(includedNames))).split(
    '\n',
  );

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
    const [, sample, labels = ''] = /^([a-z0-9_]+)\{(.*)\} \S+$/.exec(line) ?? [];
    if (sample !== undefined) {
      current?.series.push({ name: sample, labels: [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label) });
    }
  }
  return families;
}

test('everything exposed is in the catalogue, everything in the catalogue is exposed, with its type', async () => {
  const exposed = [...(await familiesOf('text'))].map(([name, { type }]) => ({ name, type }));
  const typeInText = (type: string) => (type === 'info' ? 'gauge' : type);
  const sortedBy = ({ name }: { readonly name: string }) => name.replace(/_(total|info)$/, '');
  const expected = CATALOGUE.map(({ name, type }) => ({ name, type: typeInText(type) })).sort((a, b) =>
    sortedBy(a) < sortedBy(b) ? -1 : 1,
  );
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
        const others = labels.filter((label) => label !== 'le');
        expect(others).toEqual([...definition.labels, 'application'].sort());
        expect(labels).toEqual([...labels].sort());
      }
    }
  },
);

test('samples of counters end in _total, those of summaries and histograms in _count and _sum, in both formats', async () => {
  for (const format of ['text', 'openmetrics'] as const) {
    const names = [...(await familiesOf(format)).values()].flatMap(({ series }) => series.map(({ name }) => name));
    const expected = CATALOGUE.flatMap(
      ({ name, type }) => ENDINGS[type]?.map((ending) => `${name}${ending}`) ?? [name],
    );
    expect([...new Set(names)].sort()).toEqual(expected.sort());
  }
});

test('values are those of their sources', async () => {
  const lines = await linesOf('text');
  expect(lines).toEqual(
    expect.arrayContaining([
      'kafka_consumer_records_lag{application="orders-consumer",partition="0",topic="orders"} 4',
      'db_pool_active_connections{application="orders-consumer"} 1',
      'db_pool_idle_connections{application="orders-consumer"} 2',
      'db_pool_pending_requests{application="orders-consumer"} 3',
      'db_pool_max_connections{application="orders-consumer"} 4',
      'health_consecutive_failures{application="orders-consumer"} 2',
      'db_connection_failures_total{application="orders-consumer"} 0',
    ]),
  );
});

test('each component of the health has its status by the codes of Spring Boot', async () => {
  const statuses = { consumer: 'OUT_OF_SERVICE', db: 'DOWN', kafka: 'UNKNOWN', ping: 'UP' } as const;
  const metrics = runningMetrics({ healthStatuses: () => new Map(Object.entries(statuses)) });
  const lines = (await metrics.write('text', new Set(['health']))).split('\n').filter((line) => !line.startsWith('#'));
  expect(lines.map((line) => line.replace('application="orders-consumer",', ''))).toEqual([
    'health{component="consumer"} 2',
    'health{component="db"} 1',
    'health{component="kafka"} 0',
    'health{component="ping"} 3',
    '',
  ]);
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
  metrics.listener.onCommitted(aCommit({ records: 7 }));
  await metrics.write('text');
  expect(await metrics.write('text', new Set(['kafka_consumer_records_consumed']))).toMatch(/\} 7\n$/);
});

test.each<ExpositionFormat>(['text', 'openmetrics'])(
  'a second scrape has the series of the first (%s)',
  async (format) => {
    const metrics = await startedMetrics();
    const seriesOf = (text: string) => text.split('\n').map((line) => line.replace(/\} \S+$/, '}'));
    const [first, second] = [seriesOf(await metrics.write(format)), seriesOf(await metrics.write(format))];
    expect(first.length).toBeGreaterThan(CATALOGUE.length);
    expect(second).toEqual(first);
  },
);

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
  const metrics = runningMetrics({ settings: { ...settings, management } });
  expect(await metrics.write('text', new Set(['system_cpu_count']))).toMatch(
    /^system_cpu_count\{application="stream-consumer",team="a \\"quoted\\" team"\} \d+$/m,
  );
});

/** A consumer that owns so many partitions. */
const owning = (count: number) => {
  const partitions = Array.from({ length: count }, (_, partition) => ({
    topic: 'orders',
    partition,
    nextOffset: 0n,
    lag: BigInt(partition),
  }));
  return { report: () => ({ ...managementOptions().report(), partitions }) };
};

const samplesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

test('a scrape of 200 partitions has the lag of each, every time', async () => {
  const metrics = runningMetrics(owning(200));
  await metrics.write('text');
  const text = await metrics.write('text');
  expect(text.match(/^kafka_consumer_records_lag\{/gm)).toHaveLength(200);
});

test('each partition costs as many series as the budget says, and everything else fits into the rest of it', async () => {
  const [none, many] = [await startedMetrics(owning(0)), await startedMetrics(owning(200))];
  for (let status = 200; status < 600; status += 1) {
    many.http.answered({ method: 'GET', uri: `/${status}` }, status, 0.01);
    none.http.answered({ method: 'GET', uri: `/${status}` }, status, 0.01);
  }
  const [base, whole] = [samplesOf(await none.write('text')).length, samplesOf(await many.write('text')).length];
  const ofTheTopic = 1;
  expect((whole - base - ofTheTopic) / 200).toBe(SERIES_BUDGET.perPartition);
  expect(base).toBeLessThanOrEqual(SERIES_BUDGET.base);
  expect(whole).toBeLessThanOrEqual(SERIES_BUDGET.sampleLimit);
});

test('a further topic costs as many series as the budget says, whose records go into tables, too, by conditions', async () => {
  const table = { table: 'public.orders', fields: 'same' as const, columns: {}, when: { type: 'order' } };
  const withTopics = (topics: string[]) => ({
    topics: { all: topics, settings: { tables: topics.map((topic) => ({ ...table, topic })) } },
  });
  const count = async (topics: string[]) =>
    samplesOf(await (await startedMetrics(withTopics(topics))).write('text')).length;
  const more = (await count(['orders', 'payments'])) - (await count(['orders']));
  expect(more).toBe(SERIES_BUDGET.perTopic);
});

/** What the operator and Prometheus itself add: the name, and the labels of a target. */
const ADDED_LABELS = ['__name__', 'job', 'instance', 'namespace', 'pod', 'container', 'service', 'endpoint'];

test('no series has more than half of the labels that a scrape may have', async () => {
  const families = [...(await familiesOf('text')).values()];
  const most = Math.max(...families.flatMap(({ series }) => series.map(({ labels }) => labels.length)));
  expect(most).toBeGreaterThanOrEqual(7);
  expect(most + ADDED_LABELS.length).toBeLessThanOrEqual(SERIES_BUDGET.labelLimit / 2);
});

test('every counter is there with 0 before anything happened, with each value that its labels can have', async () => {
  const samples = samplesOf(await (await startedMetrics()).write('text'));
  const valuesOf = (name: string) => samples.filter((line) => line.startsWith(`${name}{`));
  for (const { name } of CATALOGUE.filter(({ type }) => type === 'counter')) {
    expect(valuesOf(name)).not.toEqual([]);
  }
  for (const name of Object.keys(CLOSED_LABELS)) {
    expect(valuesOf(name).map((line) => line.replace(/.*\} /, ''))).toEqual(CLOSED_LABELS[name]?.map(() => '0'));
    for (const value of CLOSED_LABELS[name] ?? []) {
      expect(valuesOf(name).join('\n')).toContain(`="${value}"`);
    }
  }
});

test('nothing is ever "not a number": what has no value is left out', async () => {
  const metrics = runningMetrics({ healthFailures: () => Number.NaN });
  expect(await metrics.write('text')).not.toMatch(/NaN|health_consecutive_failures/);
  expect(metrics.reader.read('health_consecutive_failures', [])).toBeUndefined();
});

test('the series of partitions that were revoked are gone, and counters by topic stay where they were', async () => {
  let report = managementOptions().report();
  const metrics = runningMetrics({ report: () => report });
  metrics.listener.onCommitted(aCommit({ records: 7 }));
  expect(await metrics.write('text')).toContain('partition=');
  report = { ...report, partitions: [] };
  const text = await metrics.write('text');
  expect(text).not.toContain('partition=');
  expect(text).toMatch(/^consumer_rows_written_total\{.*topic="orders"\} 7$/m);
  expect(text).toMatch(/^consumer_batch_records_sum\{.*topic="orders"\} 7$/m);
});
