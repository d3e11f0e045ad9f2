import { describe, expect, test } from '@jest/globals';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { ruleGroups } from '../../monitoring/alerts/rule-groups.ts';
import { dashboardFiles } from '../../monitoring/dashboards/grafana-files.ts';
import { describeProblem } from '../../settings/schema/problem.ts';
import { consumerDocument, exampleWorkload } from '../charts/example-consumer.ts';

function problemsOf(changes: object): string[] {
  const checked = checkConsumerFile(consumerDocument(changes));
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

const ofMatchers = (matchers: object) => problemsOf({ monitoring: { matchers } });

test('labels of any usual name with any text are taken', () => {
  expect(ofMatchers({})).toEqual([]);
  expect(
    ofMatchers({ cluster: 'eu-1', _region: 'a "b" \\ {{ `$c` }} é 😀', k8s_cluster_name2: '1', toString: 'x' }),
  ).toEqual([]);
});

test.each(['eu-cluster', '2nd', '__address__', 'clüster', 'a b', 'a.b'])('the name %s is refused', (name) => {
  const [problem, ...more] = ofMatchers({ [name]: 'eu-1' });
  expect(more).toEqual([]);
  expect(problem).toContain(`monitoring.matchers.${name} is no name of a label\n  allowed: letters, digits`);
});

test.each([
  ['nothing', ''],
  ['a line break', 'eu\n1'],
  ['half a character', '\ud83d'],
  ['a number', 1],
])('the value is refused where it is %s', (_what, value) => {
  const [problem, ...more] = ofMatchers({ cluster: value });
  expect(more).toEqual([]);
  expect(problem).toContain('monitoring.matchers.cluster ');
});

describe('a label that has a meaning already', () => {
  test.each(['job', 'namespace', 'app_kubernetes_io_instance', 'application', 'pod', 'topic', 'le', 'severity'])(
    'is refused: %s',
    (name) => {
      const [problem, ...more] = ofMatchers({ [name]: 'eu-1', cluster: 'eu-1' });
      expect(more).toEqual([]);
      expect(problem).toContain(`monitoring.matchers.${name} is a label that the rules or the metrics have already`);
      expect(problem).toContain('a label such as cluster or region, but none of namespace, job,');
    },
  );

  /** Names of labels in expressions, in texts of alerts and in queries. */
  const namesIn = (text: string) => [
    ...[...text.matchAll(/[{,]\s*([a-z_]+)\s*(?:=~|!=|=)\s*\\*"/g)].map(([, name]) => name),
    ...[...text.matchAll(/\b(?:by|on) \(([a-z_, ]+)\)/g)].flatMap(([, names]) => names?.split(', ')),
    ...[...text.matchAll(/\$labels\.(\w+)/g)].map(([, name]) => name),
  ];

  test.each(['serviceMonitor', 'annotations'])(
    'is each one that rules and dashboards use, with scrape: %s',
    (scrape) => {
      const workload = exampleWorkload({
        monitoring: {
          scrape,
          alerts: { rules: { RebalanceStorm: { enabled: true }, RecordsLate: { enabled: true } } },
        },
      });
      const texts = [JSON.stringify(ruleGroups(workload)), ...dashboardFiles([workload]).values()];
      const names = [...new Set(texts.flatMap(namesIn))];
      expect(names).toEqual(
        expect.arrayContaining(['namespace', 'job', 'pod', 'topic', 'alertname', 'partition', 'bundle']),
      );
      expect(names.filter((name) => ofMatchers({ [String(name)]: 'x' }).length === 0)).toEqual([]);
    },
  );
});

test.each<[path: string, changes: { monitoring?: object; application?: object }]>([
  ['monitoring.alerts.labels.cluster', { monitoring: { alerts: { labels: { cluster: 'us-1' } } } }],
  [
    'monitoring.alerts.rules.MemoryHigh.labels.cluster',
    { monitoring: { alerts: { rules: { MemoryHigh: { labels: { cluster: 'us-1' } } } } } },
  ],
  [
    'application.management.metrics.tags.cluster',
    { application: { management: { metrics: { tags: { cluster: 'us-1' } } } } },
  ],
])('another value at %s is refused', (path, changes) => {
  const withMatchers = (cluster: string) =>
    problemsOf({ ...changes, monitoring: { ...changes.monitoring, matchers: { cluster } } });
  expect(withMatchers('eu-1')).toEqual([
    `${path} is not what monitoring.matchers.cluster asks for: "us-1"\n  allowed: eu-1, or leave it out`,
  ]);
  expect(withMatchers('us-1')).toEqual([]);
});
