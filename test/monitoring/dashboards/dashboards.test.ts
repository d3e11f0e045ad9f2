import { describe, expect, test } from '@jest/globals';
import { METRICS, type MetricDefinition } from '../../../contract/metrics.ts';
import { dashboardFiles } from '../../../monitoring/dashboards/grafana-files.ts';
import { exampleWorkload } from '../../charts/example-consumer.ts';
import { type Dashboard, drawnPanels, type Panel, variableQuery } from './dashboard-model.ts';
import { dashboards, oneConsumer } from './example-dashboards.ts';

/** Values of the threshold lines of a panel. */
function lines(dashboard: Dashboard, title: string): (number | null)[] {
  const panel = drawnPanels(dashboard).find((each) => each.title === title);
  return (panel?.fieldConfig.defaults.thresholds?.steps ?? []).map(({ value }) => value).slice(1);
}

const alerts = (rules: object) => ({ monitoring: { alerts: { rules } } });

const NAMES_AND_TYPES = Object.values<MetricDefinition>(METRICS).flatMap(({ name, type }) => {
  const parts = { histogram: ['_bucket', '_count', '_sum'], summary: ['_count', '_sum'] } as const;
  return type === 'histogram' || type === 'summary'
    ? parts[type].map((part) => [name + part, 'counter'] as const)
    : [[name, type] as const];
});

const PROMETHEUS_OWN = ['up', 'ALERTS'];

/** Asked without the choice of a Pod: what is about no Pod, and what is missing where no Pod has it. */
const OF_ALL_PODS = [
  'ALERTS',
  'up',
  ...[METRICS.recordsLag, METRICS.topicPartitions, METRICS.topicsWaiting].map(({ name }) => name),
];

const CHOSEN_DATASOURCE = { type: 'prometheus', uid: '$datasource' };

describe.each(Object.entries(dashboards()))('%s', (file, dashboard) => {
  const panels = drawnPanels(dashboard);
  const queries = panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, ...target })));
  const selectors = queries.flatMap(({ expr }) => [...expr.matchAll(/([a-zA-Z_][\w:]*)\{([^}]*)\}/g)]);

  test('has a fixed uid and title, the schema of Grafana 10, and is not edited in Grafana', () => {
    const title = { 'stream-consumer.json': 'Stream consumer', 'stream-consumers.json': 'Stream consumers' }[file];
    expect(dashboard).toMatchObject({ uid: file.replace('.json', ''), title, schemaVersion: 39, editable: false });
  });

  test('is the same bytes each time', () => {
    expect(dashboardFiles([exampleWorkload()])).toEqual(dashboardFiles([exampleWorkload()]));
  });

  test('gives each panel and row an id of its own', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(ids.filter((id, nth) => !(id > 0) || ids.indexOf(id) !== nth)).toEqual([]);
  });

  test('has panels of which none lies over another or beyond the edge', () => {
    const overlaps = ({ gridPos: a }: Panel, { gridPos: b }: Panel) =>
      a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
    for (const [nth, panel] of dashboard.panels.entries()) {
      expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(24);
      expect(dashboard.panels.slice(0, nth).filter((other) => overlaps(panel, other))).toEqual([]);
    }
  });

  test('lets a person choose the data source, which every panel, query and variable asks', () => {
    const [first, ...others] = dashboard.templating.list;
    expect(first).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    for (const { datasource } of [...panels, ...queries, ...others]) {
      expect(datasource).toEqual(CHOSEN_DATASOURCE);
    }
  });

  test('has labelled variables that are asked again when the time range changes, each within those before it', () => {
    const [, ...others] = dashboard.templating.list;
    for (const [nth, variable] of others.entries()) {
      expect(variable).toMatchObject({ type: 'query', refresh: 2, label: expect.stringMatching(/^[A-Z]/) });
      for (const { name } of others.slice(0, nth)) {
        expect(variableQuery(variable)).toContain(`=~"$${name}"`);
      }
    }
  });

  test.each(panels.map((panel) => [panel.title, panel] as const))(
    'the panel "%s" has a description, a unit, and queries with legends',
    (_title, { description, targets, fieldConfig }) => {
      expect(description).toMatch(/^[A-Z0-9].{20,}\.$/);
      expect(fieldConfig.defaults.unit).toMatch(/^[a-zA-Z]+$/);
      expect(targets.length).toBeGreaterThan(0);
      expect(targets.map(({ refId }) => refId)).toEqual([...'ABCDEFGH'].slice(0, targets.length));
      expect(targets.filter(({ legendFormat }) => legendFormat === '')).toEqual([]);
    },
  );

  test('asks only for metrics of the catalogue, and for what Prometheus itself has', () => {
    const known = [...NAMES_AND_TYPES.map(([name]) => name), ...PROMETHEUS_OWN];
    expect(selectors.map(([, name]) => name).filter((name) => !known.includes(name ?? ''))).toEqual([]);
    expect(selectors.length).toBeGreaterThanOrEqual(queries.length);
  });

  test('asks only for what the variables choose', () => {
    const pods = file === 'stream-consumer.json' ? ',pod=~"$pod"' : '';
    const chosen = 'namespace=~"$namespace",job=~"$consumer"';
    for (const [, name, matchers] of selectors) {
      const wanted = OF_ALL_PODS.some((one) => name === one) ? chosen : chosen + pods;
      expect([name, matchers?.startsWith(wanted)]).toEqual([name, true]);
    }
  });

  test('asks for the chosen topics alone of each metric that has the label, and of no other', () => {
    const parts = ['', '_bucket', '_count', '_sum'];
    const withTopic = new Set(
      Object.values<MetricDefinition>(METRICS)
        .filter(({ labels }) => labels.includes('topic'))
        .flatMap(({ name }) => parts.map((part) => name + part)),
    );
    const asked = queries.flatMap(({ title, expr }) =>
      [...expr.matchAll(/([a-zA-Z_][\w:]*)\{([^}]*)\}/g)].map(([, name = '', matchers = '']) => ({
        ...{ title, name },
        isChosen: matchers.split(',').includes('topic=~"$topic"'),
      })),
    );
    const wrong = asked.filter(({ name, isChosen }) => isChosen !== withTopic.has(name));
    // Compared with the partitions that the Pods have of all topics.
    const compared = file === 'stream-consumer.json' ? [['Partitions by Pod', METRICS.topicPartitions.name]] : [];
    expect(wrong.map(({ title, name }) => [title, name])).toEqual(compared);
    expect(asked.filter(({ isChosen }) => isChosen).length).toBeGreaterThanOrEqual(5);
    expect(dashboard.templating.list.at(-1)).toMatchObject({ name: 'topic', label: 'Topic', allValue: '.*' });
  });

  test('looks at counters by their growth alone, in steps that hold at least four scrapes or as the alerts do', () => {
    const counters = NAMES_AND_TYPES.filter(([, type]) => type === 'counter').map(([name]) => name);
    const grown = /(rate\(\w+\{[^}]*\}\[(\$__rate_interval|60s)\]\)|increase\(\w+\{[^}]*\}\[(5|10|15)m\]\))/g;
    for (const { title, expr, interval } of queries) {
      const rest = expr.replaceAll(grown, '');
      expect([title, counters.filter((name) => new RegExp(`\\b${name}\\{`).test(rest))]).toEqual([title, []]);
      expect([title, interval]).toEqual([title, '15s']);
    }
  });

  test('counts messages by what does not fall at a rebalance', () => {
    const counted = queries.find(({ title }) => title === 'Messages consumed per second');
    expect(counted?.expr).toContain(`${METRICS.batchRecords.name}_sum`);
    expect(queries.some(({ expr }) => expr.includes(METRICS.recordsConsumed.name))).toBe(false);
  });
});

describe('the dashboard of one consumer', () => {
  test('begins with a row of tiles, and goes on with the eight panels that are specified', () => {
    const [row, ...first] = oneConsumer().panels.slice(0, 15);
    expect(row).toMatchObject({ id: 800, type: 'row', title: 'Now' });
    expect(new Set(first.slice(0, 5).map(({ type, gridPos: { y } }) => `${type} ${y}`)).size).toBe(1);
    expect(first.filter(({ type }) => type !== 'row').map(({ id, title, type }) => `${id} ${title}: ${type}`)).toEqual([
      '71 What is wrong: stat',
      '72 Lag: stat',
      '73 Age: stat',
      '74 Rate: stat',
      '75 Version: stat',
      '6 Consumer lag: timeseries',
      '5 Messages consumed per second: timeseries',
      '7 Processing latency: timeseries',
      '8 Error rates: timeseries',
      '1 Heap memory: timeseries',
      '2 Non-heap memory: timeseries',
      '3 Garbage collection: timeseries',
      '4 Thread counts: timeseries',
    ]);
  });

  test('lets a person choose namespace, consumer, Pods and topics', () => {
    const [, ...variables] = oneConsumer().templating.list;
    expect(variables.map(({ name, multi }) => [name, multi])).toEqual([
      ['namespace', false],
      ['consumer', false],
      ['pod', true],
      ['topic', true],
    ]);
  });

  test.each(['pod', 'topic'])('takes series without a %s with all of them', (name) => {
    const variable = oneConsumer().templating.list.find((each) => each.name === name);
    expect(variable).toMatchObject({ includeAll: true, allValue: '.*' });
  });

  test('tells annotated Pods apart by the label that the alerts look at', () => {
    const [, , consumer] = oneConsumer({ monitoring: { scrape: 'annotations' } }).templating.list;
    expect(consumer && variableQuery(consumer)).toContain('query_result(group by (app_kubernetes_io_instance) (');
  });

  test('has a step as long as the consumer is scraped', () => {
    const often = drawnPanels(oneConsumer({ monitoring: { scrapeIntervalSeconds: 5 } }));
    expect(new Set(often.flatMap(({ targets }) => targets.map(({ interval }) => interval)))).toEqual(new Set(['5s']));
  });
});

describe('the lines in a panel', () => {
  test('are the limits of the alerts', () => {
    expect(lines(oneConsumer(), 'Consumer lag')).toEqual([10_000, 100_000]);
    expect(lines(oneConsumer(), 'Oldest record that waits')).toEqual([300, 1_800]);
    expect(lines(oneConsumer(), 'Health checks failed in a row')).toEqual([3]);
    expect(lines(oneConsumer(), 'Share of dead letters')).toEqual([0.01, 0.25]);
    expect(lines(oneConsumer(), 'Wait for a schema')).toEqual([10]);
    expect(lines(oneConsumer(), 'Thread counts')).toEqual([]);
  });

  test('are shares of the memory limit, in bytes', () => {
    const gibibyte = oneConsumer({ resources: { limits: { memory: '1Gi' } } });
    expect(lines(gibibyte, 'Resident memory')).toEqual([0.8 * 1_073_741_824, 0.95 * 1_073_741_824]);
  });

  test('follow what consumer.yaml says of the alert, and go where it is off', () => {
    const changed = oneConsumer(
      alerts({ ConsumerLagHigh: { warning: { threshold: 50_000 } }, MemoryHigh: { enabled: false } }),
    );
    expect(lines(changed, 'Consumer lag')).toEqual([50_000, 100_000]);
    expect(lines(changed, 'Resident memory')).toEqual([]);
    expect(lines(oneConsumer(alerts({ ConsumerLagHigh: { critical: { enabled: false } } })), 'Consumer lag')).toEqual([
      10_000,
    ]);
    expect(lines(oneConsumer(), 'Rebalances within 15 minutes')).toEqual([]);
    expect(lines(oneConsumer(alerts({ RebalanceStorm: { enabled: true } })), 'Rebalances within 15 minutes')).toEqual([
      15,
    ]);
  });

  test('are those of the consumer whose alert fires first, where there are several', () => {
    const strict = { name: 'strict', ...alerts({ ConsumerLagHigh: { warning: { threshold: 10 } } }) };
    expect(lines(oneConsumer({}, strict), 'Consumer lag')).toEqual([10, 100_000]);
  });
});

test("a component's health has the words of its status", () => {
  const panel = drawnPanels(oneConsumer()).find(({ title }) => title === 'Health by component');
  const texts = Object.entries(panel?.fieldConfig.defaults.mappings?.[0]?.options ?? {});
  expect(texts.map(([value, { text }]) => `${value} ${text}`)).toEqual([
    '0 UNKNOWN',
    '1 DOWN',
    '2 OUT_OF_SERVICE',
    '3 UP',
  ]);
});

test('a click on a series of all consumers leads to its consumer', () => {
  for (const { fieldConfig } of drawnPanels(dashboards()['stream-consumers.json'] as Dashboard)) {
    expect(fieldConfig.defaults.links?.map(({ url }) => url)).toEqual([
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own variables.
      '/d/stream-consumer?var-namespace=${__field.labels.namespace}&var-consumer=${__field.labels.job}&${__url_time_range}',
    ]);
  }
});

test('alerts have the colours of the lines of their levels', () => {
  for (const dashboard of Object.values(dashboards())) {
    const alertsFiring = drawnPanels(dashboard).find(({ title }) => title === 'Alerts firing');
    const colors = alertsFiring?.fieldConfig.overrides.map(({ matcher, properties: [color] }) => [
      matcher.options,
      color?.value.fixedColor,
    ]);
    expect(colors).toEqual([
      ['/warning$/', 'orange'],
      ['/critical$/', 'red'],
    ]);
  }
});
