import { METRICS } from '../../contract/metrics.ts';
import { HALF, type RowDefinition } from './panel.ts';
import { type DashboardScope, POD } from './scope.ts';

/** What the schema registry answers, and what waits for it; empty where a consumer has none. */
export const schemaRegistry = ({ own, byPod, limits }: DashboardScope): RowDefinition => ({
  id: 660,
  title: 'Schema registry',
  panels: [
    {
      id: 57,
      title: 'Wait for a schema',
      description:
        'For how long the oldest batch of a Pod has been waiting for a schema, 0 while none waits. Its partition waits alone. A restart of the Pod begins it anew.',
      unit: 's',
      queries: { [POD]: byPod('max', (selector) => selector(METRICS.schemaWait)) },
      limits: limits('SchemaRegistryAway'),
    },
    {
      id: 58,
      title: 'Requests to the registry by outcome',
      description:
        'Requests per second: found; unknown, which a lagging follower of the registry answers, too; refused, by the login or the path; away, by an outage. None is usual: each schema is asked for once.',
      unit: 'reqps',
      queries: { '{{outcome}}': `sum by (outcome) (rate(${own(METRICS.schemaRequests)}[$__rate_interval]))` },
      width: HALF,
    },
    {
      id: 59,
      title: 'Schemas known',
      description:
        'Schemas that a Pod keeps, at most 1,000. Growth without an end: producers register a new schema again and again.',
      unit: 'short',
      queries: { [POD]: byPod('max', (selector) => selector(METRICS.schemas)) },
    },
  ],
});
