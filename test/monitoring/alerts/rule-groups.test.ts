import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { only, renderedConsumer } from '../../charts/rendered-consumer.ts';
import { alertsOf, groupsOf, renderedMonitoring } from '../rendered-monitoring.ts';

const everything = renderedMonitoring();
const alerts = alertsOf(everything);

describe('alerts', () => {
  const named = (name: string, severity: string) => {
    const found = alerts.filter(({ alert, labels }) => alert === name && labels.severity === severity);
    expect(found).toHaveLength(1);
    return found[0]?.expr;
  };

  test('are the seven, lag and memory in two severities of one name', () => {
    expect(alerts.map(({ alert, labels }) => `${alert} ${labels.severity}`)).toEqual([
      'ConsumerLagHigh warning',
      'ConsumerLagHigh critical',
      'HealthCheckFailing critical',
      'MemoryHigh warning',
      'MemoryHigh critical',
      'DatabaseConnectionFailures critical',
      'PartitionUnreadable critical',
      'TopicGone critical',
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
    expect(alertsOf(often).find(({ alert }) => alert === 'HealthCheckFailing')?.expr).toContain('[15s]');
    expect(groupsOf(often)[0]?.interval).toBe('5s');
  });

  test('have a summary without values, a description with them, and a runbook that exists', () => {
    for (const { alert, annotations } of alerts) {
      expect(annotations.summary).not.toContain('{{');
      expect(annotations.description).toContain('{{ $value');
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
});

describe('expressions', () => {
  const expressions = groupsOf(everything).flatMap(({ rules }) => rules.map(({ expr }) => expr));
  const records = groupsOf(everything).flatMap(({ rules }) =>
    rules.flatMap((rule) => ('record' in rule ? [rule.record] : [])),
  );
  const selectors = expressions.flatMap((expr) => [...expr.matchAll(/([a-zA-Z_:][\w:]*)(\{[^}]*\})/g)]);

  test('ask only for metrics that the consumer exports, recorded ones and up', () => {
    const known = [...Object.values(METRICS).map(({ name }) => name as string), ...records, 'up'];
    expect(selectors.map(([, metric]) => metric).filter((metric) => !known.includes(metric ?? ''))).toEqual([]);
    expect(selectors.length).toBeGreaterThanOrEqual(expressions.length);
  });

  test('look at this consumer alone: at its namespace and at the job named like its Service', () => {
    const service = only(renderedConsumer(), 'Service');
    const own = `{namespace="${service.metadata.namespace}",job="${service.metadata.name}"}`;
    expect(new Set(selectors.map(([, , labels]) => labels))).toEqual(new Set([own]));
  });

  test('group by labels that the metric has', () => {
    const target = ['namespace', 'job', 'pod', 'instance'];
    const grouped = expressions
      .flatMap((expr) => [...expr.matchAll(/by \(([^)]*)\)/g)])
      .flatMap(([, list]) => list?.split(', ') ?? []);
    expect(grouped.filter((label) => ![...target, ...METRICS.recordsLag.labels].includes(label))).toEqual([]);
  });
});
