import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { METRICS, type MetricDefinition } from '../../../contract/metrics.ts';
import { only, renderedConsumer } from '../../charts/rendered-consumer.ts';
import { alertsOf, groupsOf, renderedMonitoring } from '../rendered-monitoring.ts';

const REGISTRY = { application: { schemaRegistry: { url: 'https://registry.example.com' } } };

const everything = renderedMonitoring(REGISTRY);
const alerts = alertsOf(everything);

describe('alerts', () => {
  const named = (name: string, severity: string) => {
    const found = alerts.filter(({ alert, labels }) => alert === name && labels.severity === severity);
    expect(found).toHaveLength(1);
    return found[0]?.expr;
  };

  test('are those of the specification first, then what else can happen on the way of a record', () => {
    expect(alerts.map(({ alert, labels }) => `${alert} ${labels.severity}`)).toEqual([
      'ConsumerLagHigh warning',
      'ConsumerLagHigh critical',
      'HealthCheckFailing critical',
      'MemoryHigh warning',
      'MemoryHigh critical',
      'DatabaseConnectionFailures critical',
      'ConsumerLagTime warning',
      'ConsumerLagTime critical',
      'ConsumerAbsent critical',
      'ConsumerRestarting warning',
      'HeapNearItsLimit warning',
      'EventLoopBlocked warning',
      'KafkaUnreachable warning',
      'KafkaUnreachable critical',
      'SchemaRegistryAway critical',
      'CertificateExpires warning',
      'CertificateExpires critical',
      'TopicGone critical',
      'TopicWaits critical',
      'PartitionUnassigned critical',
      'PartitionUnreadable critical',
      'PartitionLeaderless critical',
      'RecordsSkipped critical',
      'DeadLettersHigh warning',
      'DeadLettersHigh critical',
      'WriterFenced warning',
      'RecordsLate warning',
    ]);
  });

  test('have their thresholds as numbers in the expressions', () => {
    expect(named('ConsumerLagHigh', 'warning')).toMatch(/ > 10000$/);
    expect(named('ConsumerLagHigh', 'critical')).toMatch(/ > 100000$/);
    expect(named('HealthCheckFailing', 'critical')).toContain('health_consecutive_failures{');
    expect(named('HealthCheckFailing', 'critical')).toContain('} >= 3');
    expect(named('MemoryHigh', 'warning')).toMatch(/ \/ 536870912 > 0\.8$/);
    expect(named('MemoryHigh', 'critical')).toMatch(/ \/ 536870912 > 0\.95$/);
    expect(named('DatabaseConnectionFailures', 'critical')).toMatch(/ > 0$/);
    expect(named('TopicGone', 'critical')).toMatch(/ > 0$/);
  });

  test('measure memory against the limit that synth wrote', () => {
    const [expr] = alertsOf(renderedMonitoring({ resources: { limits: { memory: '1Gi' } } }))
      .filter(({ alert }) => alert === 'MemoryHigh')
      .map((alert) => alert.expr);
    expect(expr).toContain('/ 1073741824 >');
  });

  test('count three scrapes by the interval at which the consumer is scraped', () => {
    const often = renderedMonitoring({ monitoring: { scrapeIntervalSeconds: 5 } });
    expect(alertsOf(often).find(({ alert }) => alert === 'HealthCheckFailing')?.expr).toMatch(/\[15s\].*\[18s\]/);
    expect(groupsOf(often)[0]?.interval).toBe('5s');
  });

  test('have a summary without values, a description with them, and a runbook that exists', () => {
    for (const { alert, annotations } of alerts) {
      expect(annotations.summary).not.toContain('{{');
      expect(annotations.description).toContain(alert === 'ConsumerAbsent' ? '{{ $labels' : '{{ $value');
      expect(annotations.runbook_url).toBe(
        `https://github.com/stream-consumer/stream-consumer/blob/main/docs/runbooks/${alert}.md`,
      );
      expect(existsSync(`docs/runbooks/${basename(annotations.runbook_url)}`)).toBe(true);
    }
  });

  test('find their runbooks below another base when consumer.yaml says so', () => {
    const moved = renderedMonitoring({ monitoring: { runbookBaseUrl: 'https://wiki.example.com/runbooks' } });
    for (const { alert, annotations } of alertsOf(moved)) {
      expect(annotations.runbook_url).toBe(`https://wiki.example.com/runbooks/${alert}.md`);
    }
  });

  test.each(['runbookBaseUrl', 'dashboardUrl'])('refuse %s with what the operator would take for a template', (key) => {
    expect(() => renderedMonitoring({ monitoring: { [key]: 'https://example.com/{{)/a' } })).toThrow(key);
  });

  test('may show a label of the alert in dashboardUrl', () => {
    const dashboardUrl = 'https://grafana.example.com/d/consumer?var-pod={{$labels.pod}}';
    const [first] = alertsOf(renderedMonitoring({ monitoring: { dashboardUrl } }));
    expect(first?.annotations).toMatchObject({ dashboard_url: dashboardUrl });
  });
});

describe('monitoring.alerts', () => {
  const rulesOf = (changes: object, name: string) =>
    alertsOf(renderedMonitoring({ monitoring: { alerts: changes } })).filter(({ alert }) => alert === name);

  test('changes limit, time and severity of one level, and leaves the other', () => {
    const warning = { threshold: 50_000, for: '10m' };
    const rules = { ConsumerLagHigh: { keepFiringFor: '1h', warning, critical: { severity: 'page' } } };
    const [first, second, ...others] = rulesOf({ rules }, 'ConsumerLagHigh');
    expect(first).toMatchObject({ for: '10m', keep_firing_for: '1h', labels: { severity: 'warning' } });
    expect(first?.expr).toMatch(/ > 50000$/);
    expect(second).toMatchObject({ for: '5m', keep_firing_for: '1h', labels: { severity: 'page' } });
    expect(second?.expr).toMatch(/ > 100000$/);
    expect(others).toEqual([]);
  });

  test('looks for no smaller share of dead letters in an hour than the warning asks of ten minutes', () => {
    const shares = (threshold: number) => {
      const [warning] = rulesOf({ rules: { DeadLettersHigh: { warning: { threshold } } } }, 'DeadLettersHigh');
      return [...(warning?.expr.matchAll(/ > ([\d.]+)(?= or |$)/g) ?? [])].map(([, share]) => share);
    };
    expect(shares(0.01)).toEqual(['0.01', '0.25']);
    expect(shares(0.5)).toEqual(['0.5', '0.5']);
  });

  test('switches an alert off, or one level of it, and an optional one on', () => {
    expect(rulesOf({ rules: { MemoryHigh: { enabled: false } } }, 'MemoryHigh')).toEqual([]);
    expect(rulesOf({ rules: { MemoryHigh: { warning: { enabled: false } } } }, 'MemoryHigh')).toHaveLength(1);
    expect(rulesOf({}, 'RebalanceStorm')).toEqual([]);
    expect(rulesOf({ rules: { RebalanceStorm: { warning: { threshold: 9 } } } }, 'RebalanceStorm')).toEqual([]);
    expect(rulesOf({ rules: { RebalanceStorm: { enabled: true } } }, 'RebalanceStorm')).toHaveLength(1);
  });

  test.each<[string, object, string[], string[]]>([
    ['by default: the warning alone', {}, ['warning'], ['6h', '30m']],
    ['with enabled: both levels', { enabled: true }, ['warning', 'critical'], ['6h', '30m', '1h', '5m']],
    ['critical as well', { critical: { enabled: true } }, ['warning', 'critical'], ['6h', '30m', '1h', '5m']],
    ['another limit for critical switches it not on', { critical: { threshold: 9 } }, ['warning'], ['6h', '30m']],
    [
      'critical in the place of the warning',
      { enabled: true, warning: { enabled: false } },
      ['critical'],
      ['1h', '5m'],
    ],
    ['off, with what it records', { enabled: false }, [], []],
    ['off, whatever its levels say', { enabled: false, critical: { enabled: true } }, [], []],
  ])('renders RecordsLate %s', (_name, RecordsLate, levels, windows) => {
    expect(rulesOf({ rules: { RecordsLate } }, 'RecordsLate').map(({ labels }) => labels.severity)).toEqual(levels);
    const [group] = groupsOf(renderedMonitoring({ monitoring: { alerts: { rules: { RecordsLate } } } }));
    const recorded = group?.rules.flatMap((rule) =>
      'record' in rule ? (/late_ratio_rate(.*)/.exec(rule.record)?.[1] ?? []) : [],
    );
    expect(recorded).toEqual(windows);
  });

  test('adds labels and annotations to all alerts and to one', () => {
    const rules = { MemoryHigh: { labels: { route: 'memory' }, annotations: { summary: 'Look at the memory.' } } };
    const changed = { labels: { team: 'orders' }, annotations: { chat: '#orders' }, rules };
    const [memory] = rulesOf(changed, 'MemoryHigh');
    expect(memory?.labels).toEqual({ severity: 'warning', team: 'orders', route: 'memory' });
    expect(memory?.annotations).toMatchObject({ chat: '#orders', summary: 'Look at the memory.' });
    expect(rulesOf(changed, 'TopicGone')[0]?.labels).toEqual({ severity: 'critical', team: 'orders' });
  });

  test('names the dashboard where consumer.yaml has its URL', () => {
    const url = 'https://grafana.example.com/d/orders';
    const shown = alertsOf(renderedMonitoring({ monitoring: { dashboardUrl: url } }));
    expect(shown.every(({ annotations }) => annotations['dashboard_url'] === url)).toBe(true);
    expect(alerts.some(({ annotations }) => 'dashboard_url' in annotations)).toBe(false);
  });

  test.each([
    [
      { rules: { ConsumerLagHihg: {} } },
      'monitoring.alerts.rules.ConsumerLagHihg is no alert; did you mean ConsumerLagHigh?',
    ],
    [
      { rules: { TopicGone: { warning: {} } } },
      'monitoring.alerts.rules.TopicGone.warning is a level that TopicGone does not have',
    ],
    [{ labels: { severity: 'page' } }, 'monitoring.alerts.labels.severity'],
    [{ rules: { TopicGone: { critical: { for: '5 minutes' } } } }, 'monitoring.alerts.rules.TopicGone.critical.for'],
  ])('refuses %j with its path', (wrong, message) => {
    expect(() => renderedMonitoring({ monitoring: { alerts: wrong } })).toThrow(message);
  });
});

test('without a target there is an alert, but not where an autoscaler may end the last Pod', () => {
  const absent = (changes: object) =>
    alertsOf(renderedMonitoring(changes)).some(({ alert }) => alert === 'ConsumerAbsent');
  expect(absent({})).toBe(true);
  expect(absent({ replicas: 0 })).toBe(false);
  expect(absent({ partitions: 3, scaling: { keda: { minReplicas: 0 } } })).toBe(false);
});

test('only a consumer with a schema registry has an alert about it', () => {
  const isThere = (changes: object) =>
    alertsOf(renderedMonitoring(changes)).some(({ alert }) => alert === 'SchemaRegistryAway');
  expect(isThere(REGISTRY)).toBe(true);
  expect(isThere({})).toBe(false);
});

describe('expressions', () => {
  const expressions = groupsOf(everything).flatMap(({ rules }) => rules.map(({ expr }) => expr));
  const records = groupsOf(everything).flatMap(({ rules }) =>
    rules.flatMap((rule) => ('record' in rule ? [rule.record] : [])),
  );
  const selectors = expressions.flatMap((expr) => [...expr.matchAll(/([a-zA-Z_:][\w:]*)(\{[^}]*\})/g)]);

  test('ask only for metrics that the consumer exports, recorded ones and up', () => {
    const names = Object.values<MetricDefinition>(METRICS).flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    const known = [...names, ...records, 'up'];
    expect(selectors.map(([, metric]) => metric).filter((metric) => !known.includes(metric ?? ''))).toEqual([]);
    expect(selectors.length).toBeGreaterThanOrEqual(expressions.length);
  });

  test('compare no clock of a Pod with that of Prometheus', () => {
    expect(expressions.filter((expr) => expr.includes('time() -'))).toEqual([]);
    expect(expressions.some((expr) => /process_uptime_seconds\{[^}]*\} < 300/.test(expr))).toBe(true);
  });

  test('look at this consumer alone: at its namespace and at the job named like its Service', () => {
    const service = only(renderedConsumer(), 'Service');
    const own = `{namespace="${service.metadata.namespace}",job="${service.metadata.name}"`;
    expect(selectors.filter(([, , labels]) => !labels?.startsWith(own))).toEqual([]);
  });

  test('group by labels that the metric has', () => {
    const target = ['namespace', 'job', 'pod', 'instance', ...METRICS.certificateExpiry.labels];
    const grouped = expressions
      .flatMap((expr) => [...expr.matchAll(/by \(([^)]*)\)/g)])
      .flatMap(([, list]) => list?.split(', ') ?? []);
    expect(grouped.filter((label) => ![...target, ...METRICS.recordsLag.labels].includes(label))).toEqual([]);
  });
});

describe.each(['serviceMonitor', 'annotations'])('monitoring.matchers, with scrape: %s', (scrape) => {
  const rules = {
    DeadLettersWaiting: { enabled: true },
    RebalanceStorm: { enabled: true },
    RecordsLate: { enabled: true },
  };
  const groups = (matchers: object) =>
    groupsOf(renderedMonitoring({ ...REGISTRY, monitoring: { scrape, matchers, alerts: { rules } } }));
  const all = groups({ cluster: 'eu-1', region: 'west' }).flatMap((group) => group.rules);
  const texts = all.flatMap((rule) => [rule.expr, ...('alert' in rule ? [rule.annotations.description] : [])]);

  test('are in each selector of expressions and texts', () => {
    const selectors = texts.flatMap((text) =>
      [...text.matchAll(/(?<!\{)\{(?!\{)([^{}]+)\}/g)].map(([, matchers]) => matchers),
    );
    expect(selectors.length).toBeGreaterThan(all.length);
    expect(selectors.filter((each) => !each?.includes(',cluster="eu-1",region="west"'))).toEqual([]);
  });

  test('are kept by each aggregation, but for those in texts', () => {
    const kept = all.flatMap(({ expr }) => [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].map(([, labels]) => labels));
    expect(kept.length).toBeGreaterThan(20);
    expect(kept.filter((labels) => !labels?.includes(', cluster, region'))).toEqual([]);
  });

  test('are none by default', () => {
    expect(JSON.stringify(groups({}))).not.toContain('cluster');
  });
});
