import { App } from 'cdk8s';
import type { AlertRule, RuleGroup } from '../../monitoring/alerts/rule.ts';
import { MonitoringChart } from '../../monitoring/stream-consumer-monitoring.ts';
import { exampleWorkload } from '../charts/example-consumer.ts';
import { type Manifest, only } from '../charts/rendered-consumer.ts';

/** Both custom resources. */
export function renderedMonitoring(changes: object = {}): Manifest[] {
  const chart = new MonitoringChart(new App(), 'monitoring', { consumer: { workload: exampleWorkload(changes) } });
  return chart.toJson();
}

export const groupsOf = (manifests: readonly Manifest[]): RuleGroup[] =>
  (only(manifests, 'PrometheusRule')['spec'] as { groups: RuleGroup[] }).groups;

/** The alert rules of all groups. */
export function alertsOf(manifests: readonly Manifest[]): AlertRule[] {
  return groupsOf(manifests)
    .flatMap(({ rules }) => rules)
    .filter((rule) => 'alert' in rule);
}
