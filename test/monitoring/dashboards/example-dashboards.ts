import { dashboardFiles } from '../../../monitoring/dashboards/grafana-files.ts';
import { exampleWorkload } from '../../charts/example-consumer.ts';
import type { Dashboard } from './dashboard-model.ts';

/** Both dashboards of consumers with such changes, by file name. */
export function dashboards(first: object = {}, ...more: readonly object[]): Readonly<Record<string, Dashboard>> {
  const files = dashboardFiles([exampleWorkload(first), ...more.map(exampleWorkload)]);
  return Object.fromEntries([...files].map(([name, text]) => [name, JSON.parse(text) as Dashboard]));
}

/** The dashboard of one consumer. */
export const oneConsumer = (first: object = {}, ...more: readonly object[]): Dashboard =>
  dashboards(first, ...more)['stream-consumer.json'] as Dashboard;
