import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { dashboardFiles } from '../../../monitoring/dashboards/grafana-files.ts';
import { POD } from '../../../monitoring/dashboards/scope.ts';
import { exampleWorkload } from '../../charts/example-consumer.ts';
import { type Dashboard, drawnPanels, variableQuery } from './dashboard-model.ts';

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

const dashboard = JSON.parse(dashboardFiles([exampleWorkload()]).get('stream-consumer.json') ?? '') as Dashboard;

/** As Grafana sends it, where all Pods of the consumer are chosen. @param topic @default all of them */
const filledIn = (query: string, topic = '.*'): string =>
  query
    .replaceAll('$topic', topic)
    .replaceAll('$namespace', 'stream-consumer')
    .replaceAll('$consumer', 'orders-consumer')
    .replaceAll('$pod', '.*')
    .replaceAll('$__rate_interval', '60s')
    .replaceAll('$__range', '3600s');

const queryOf = (title: string, legend: string): string => {
  const target = drawnPanels(dashboard)
    .find((panel) => panel.title === title)
    ?.targets.find(({ legendFormat }) => legendFormat === legend);
  if (target === undefined) {
    throw new Error(`no query "${legend}" in the panel "${title}"`);
  }
  return target.expr;
};

/** Series by their text, constant over time. */
type SeriesValues = Readonly<Record<string, string>>;

/** What Prometheus finds by each query ten minutes after the series began, as its own text has it. */
function foundByEach(queries: readonly string[], series: SeriesValues, topic?: string): string[][] {
  const folder = mkdtempSync(join(tmpdir(), 'panels-'));
  const asked = queries.map((query) => ({
    expr: filledIn(query, topic),
    eval_time: '10m',
    exp_samples: [{ labels: '{never="so"}', value: 0 }],
  }));
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const file = { tests: [{ interval: '15s', input_series: input, promql_expr_test: asked }] };
  writeFileSync(join(folder, 'tests.yaml'), stringify(file, { lineWidth: 0 }));
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'tests.yaml'], { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const answers = [...(stdout + stderr).matchAll(/ got:(.*)$/gm)].map(([, answer = '']) => answer.trim());
  if (answers.length !== queries.length) {
    throw new Error(`promtool did not evaluate all of ${queries.join(' and ')}: ${stdout}${stderr}`);
  }
  return answers.map((answer) => (answer === 'nil' ? [] : answer.split(/(?<=E[+-]\d\d),? /).sort()));
}

const found = (query: string, series: SeriesValues): string[] => foundByEach([query], series)[0] ?? [];

/** A target as a plain Prometheus labels it, with its address alone, and as the operator does. */
const LABELLINGS = {
  'a plain Prometheus': (nth: number) =>
    `namespace="stream-consumer",job="orders-consumer",instance="10.0.0.${nth}:8080"`,
  'the operator': (nth: number) =>
    `namespace="stream-consumer",job="orders-consumer",instance="10.0.0.${nth}:8080",pod="orders-${nth}"`,
} as const;

const NAMES = { 'a plain Prometheus': 'instance="10.0.0.1:8080"', 'the operator': 'pod="orders-1"' } as const;

/** Two Pods that share six partitions, all well. */
const twoPods = (labels: (nth: number) => string): SeriesValues => ({
  ...Object.fromEntries(
    [1, 2].flatMap((nth) => [
      [`up{${labels(nth)}}`, '1x60'],
      [`kafka_consumer_coordinator_assigned_partitions{${labels(nth)}}`, '3x60'],
      [`consumer_topic_partitions{${labels(nth)},topic="orders"}`, '6x60'],
      [`health{${labels(nth)},component="db"}`, '3x60'],
      [`process_resident_memory_bytes{${labels(nth)}}`, `${nth}00x60`],
      [`consumer_dead_letters_total{${labels(nth)},reason="invalid_json"}`, '7x60'],
      ...[0, 1, 2].map((partition) => [
        `kafka_consumer_records_lag{${labels(nth)},topic="orders",partition="${3 * nth + partition}"}`,
        '5x60',
      ]),
    ]),
  ),
});

const without = (series: SeriesValues, part: string): SeriesValues =>
  Object.fromEntries(Object.entries(series).filter(([name]) => !name.includes(part)));

const NOTHING = 'nothing that is known';
const WRONG = drawnPanels(dashboard).find(({ title }) => title === 'What is wrong')?.targets ?? [];

/** Legends of the tiles that there are. */
function wrong(series: SeriesValues): string[] {
  const answers = foundByEach(
    WRONG.map(({ expr }) => expr),
    series,
  );
  return WRONG.filter((_, nth) => answers[nth]?.length !== 0).map(({ legendFormat }) => legendFormat);
}

(hasPromtool || isRequired ? describe : describe.skip).each(['a plain Prometheus', 'the operator'] as const)(
  'the panels, by targets as %s labels them',
  (labelling) => {
    const labels = LABELLINGS[labelling];
    const well = twoPods(labels);

    test('show each Pod by itself, and no partition without a Pod where all are owned', () => {
      expect(found(queryOf('Resident memory', POD), well)).toEqual([
        `{${NAMES[labelling]}} 1E+02`,
        `{${NAMES[labelling].replace('1:8080', '2:8080').replace('orders-1', 'orders-2')}} 2E+02`,
      ]);
      expect(found(queryOf('Partitions by Pod', POD), well)).toHaveLength(2);
      expect(found(queryOf('Partitions by Pod', 'none, or another Pod'), well)).toEqual(['{} 0E+00']);
    });

    test('show the partitions that a Pod had that is gone', () => {
      const gone = without(well, '10.0.0.2');
      expect(found(queryOf('Partitions by Pod', 'none, or another Pod'), gone)).toEqual(['{} 3E+00']);
      expect(wrong(gone)).toEqual(['{{topic}}: the lag of some partitions is not known']);
    });

    test('find nothing wrong where nothing is, and the lag of the topic', () => {
      expect(wrong(well)).toEqual([NOTHING]);
      expect(found(queryOf('Lag', 'lag'), well)).toEqual(['{} 3E+01']);
    });

    test('name what is wrong', () => {
      const alert =
        'ALERTS{namespace="stream-consumer",job="orders-consumer",alertname="ConsumerAbsent",severity="critical",alertstate=';
      expect(wrong({ ...well, [`${alert}"firing"}`]: '1x60' })).toEqual(['{{alertname}} {{topic}} {{severity}}']);
      expect(wrong({ ...well, [`${alert}"pending"}`]: '1x60' })).toEqual([NOTHING]);
      expect(wrong({ ...well, [`health{${labels(2)},component="db"}`]: '1x60' })).toEqual(['{{component}} is not UP']);
      expect(wrong({ ...well, [`up{${labels(2)}}`]: '1x50 0x10' })).toEqual([NOTHING]);
      expect(wrong({ ...well, [`up{${labels(2)}}`]: '1x30 0x30' })).toEqual([`${POD} could not be scraped`]);
      expect(
        wrong({ ...well, [`consumer_dead_letters_total{${labels(2)},reason="invalid_json"}`]: '7x30 8x30' }),
      ).toEqual(['{{topic}}: dead letters within 5 minutes']);
    });

    test('name a topic that waits alone, whose lag is not called unknown, and none that nobody wants', () => {
      const noLag = without(without(well, '10.0.0.2:8080",pod="orders-2",topic'), '10.0.0.2:8080",topic');
      const waits = (value: number) =>
        wrong({ ...noLag, [`consumer_topics_waiting{${labels(2)},topic="orders"}`]: `${value}x60` });
      expect(wrong(noLag)).toEqual(['{{topic}}: the lag of some partitions is not known']);
      expect(waits(1)).toEqual(['{{topic}} waits alone']);
      expect(waits(2)).toEqual([NOTHING]);
    });

    test('show the chosen topic alone, as Grafana escapes it, and all that is of no topic', () => {
      const [one, other] = ['shop.public.orders', 'shop-public-orders'];
      const series = {
        ...well,
        ...Object.fromEntries(
          [one, other].flatMap((topic) => [
            [`kafka_consumer_records_lag{${labels(1)},topic="${topic}",partition="0"}`, '7x60'],
            [`consumer_topic_partitions{${labels(1)},topic="${topic}"}`, '1x60'],
          ]),
        ),
      };
      const asked = (title: string, legend: string, topic?: string) =>
        foundByEach([queryOf(title, legend)], series, topic)[0];
      const escaped = 'shop\\\\.public\\\\.orders';
      expect(asked('Consumer lag', '{{topic}}', escaped)).toEqual([`{topic="${one}"} 7E+00`]);
      expect(asked('Consumer lag', '{{topic}}', `(orders|${escaped})`)).toHaveLength(2);
      expect(asked('Consumer lag', '{{topic}}')).toHaveLength(3);
      expect(asked('Lag', 'lag', escaped)).toEqual(['{} 7E+00']);
      expect(asked('Resident memory', POD, escaped)).toHaveLength(2);
      expect(asked('Partitions by Pod', 'none, or another Pod', escaped)).toEqual(
        asked('Partitions by Pod', 'none, or another Pod'),
      );
    });

    test('show the Pod that waits for the schema registry, which is not UP, and what the registry answers', () => {
      const waiting = {
        ...well,
        [`health{${labels(1)},component="schemaRegistry"}`]: '1x60',
        [`consumer_schema_wait_seconds{${labels(1)}}`]: '0x20 15+15x39',
        [`consumer_schema_requests_total{${labels(1)},outcome="away"}`]: '0+30x60',
        [`consumer_schemas{${labels(1)}}`]: '7x60',
      };
      const pod = NAMES[labelling];
      expect(wrong(waiting)).toEqual(['{{component}} is not UP']);
      expect(found(queryOf('Wait for a schema', POD), waiting)).toEqual([`{${pod}} 3E+02`]);
      expect(found(queryOf('Requests to the registry by outcome', '{{outcome}}'), waiting)).toEqual([
        '{outcome="away"} 2E+00',
      ]);
      expect(found(queryOf('Schemas known', POD), waiting)).toEqual([`{${pod}} 7E+00`]);
    });

    test('do not call it well where no Pod is scraped, or Prometheus has none', () => {
      expect(wrong({ [`up{${labels(1)}}`]: '0x60' })).toEqual([`${POD} could not be scraped`]);
      expect(wrong({})).toEqual(['Prometheus has no Pod to scrape']);
      const figures = drawnPanels(dashboard).filter(({ title }) => ['Lag', 'Age', 'Rate', 'Version'].includes(title));
      const queries = figures.flatMap(({ targets }) => targets.map(({ expr }) => expr));
      expect(foundByEach(queries, {})).toEqual([[], [], [], []]);
    });
  },
);

(hasPromtool || isRequired ? describe : describe.skip)('the variables', () => {
  const [namespace, consumer] = dashboard.templating.list.slice(1).map(variableQuery);
  const labels = LABELLINGS['a plain Prometheus'](1);
  const anInstant = (query: string | undefined) => query?.replace(/^query_result\((.*)\)$/, '$1') ?? '';
  const chosen = (series: SeriesValues) => foundByEach([anInstant(namespace), anInstant(consumer)], series);
  const ours = [['{namespace="stream-consumer"} 1E+00'], ['{job="orders-consumer"} 1E+00']];

  test.each<[string, SeriesValues]>([
    ['was scraped within the range', { [`consumer_retries_total{${labels}}`]: '0x20 stale' }],
    ['was never scraped', { [`up{${labels}}`]: '0x60' }],
    [
      'has no target',
      {
        'ALERTS{namespace="stream-consumer",job="orders-consumer",alertname="ConsumerAbsent",alertstate="pending"}':
          '1x60',
      },
    ],
  ])('have a consumer that %s', (_name, series) => {
    expect(chosen(series)).toEqual(ours);
  });

  test('have a consumer of another repository once it was scraped, and no job that is none', () => {
    const other = 'namespace="stream-consumer",job="refunds-consumer",instance="10.0.0.9:8080"';
    const jobs = {
      [`consumer_retries_total{${other}}`]: '0x60',
      'up{namespace="stream-consumer",job="grafana"}': '1x60',
    };
    expect(chosen(jobs)).toEqual([ours[0], ['{job="refunds-consumer"} 1E+00']]);
  });

  test('have each topic that is read, that waits, or that has dead letters', () => {
    const topics = dashboard.templating.list.map(variableQuery).at(-1);
    const [answer] = foundByEach([anInstant(topics)], {
      [`consumer_topic_partitions{${labels},topic="read"}`]: '6x60',
      [`consumer_topics_waiting{${labels},topic="waits"}`]: '1x60',
      [`consumer_dead_letters_waiting{${labels},topic="was-read"}`]: '0x20 stale',
      [`consumer_topic_partitions{${labels.replace('orders-', 'other-')},topic="of-another"}`]: '6x60',
    });
    expect(answer).toEqual(['read', 'waits', 'was-read'].map((topic) => `{topic="${topic}"} 1E+00`));
  });

  test('take the value out of the answer of query_result', () => {
    for (const { regex = '', name } of dashboard.templating.list.slice(1)) {
      const label = { namespace: 'namespace', consumer: 'job', pod: 'pod', topic: 'topic' }[name];
      const [, pattern = ''] = /^\/(.*)\/$/.exec(regex) ?? [];
      expect(new RegExp(pattern).exec(`{${label}="orders-consumer"} 1 1795372949387`)?.[1]).toBe('orders-consumer');
    }
  });
});
