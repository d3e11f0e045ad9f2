import { METRICS } from '../../contract/metrics.ts';
import { memoryBytes } from '../../deployment/sections/resources.ts';
import { dashboardJson, dashboardUid, topicVariable } from './dashboard.ts';
import { LEVEL_COLORS, type PanelDefinition } from './panel.ts';
import { type DashboardScope, dashboardScope, type ShownConsumers } from './scope.ts';
import { quantile } from './specified-panels.ts';
import { STREAM_CONSUMER_UID } from './stream-consumer.ts';

const THIRD = 8;

type Overview = Omit<PanelDefinition, 'width' | 'link'>;

const stateOfConsumers = ({ own, limits }: DashboardScope, by: string): Overview[] => [
  {
    id: 1,
    title: 'Alerts firing',
    description: 'By consumer and severity; each alert counts by its series.',
    unit: 'short',
    queries: { '{{CONSUMER}} {{severity}}': `sum by (${by}, severity) (${own('ALERTS', 'alertstate="firing"')})` },
    isStacked: true,
    colors: LEVEL_COLORS,
  },
  {
    id: 2,
    title: 'Pods that answer',
    description: 'Pods of each consumer that Prometheus scrapes.',
    unit: 'short',
    queries: { '{{CONSUMER}}': `sum by (${by}) (${own('up')})` },
  },
  {
    id: 3,
    title: 'Health',
    description:
      'Evaluations in a row in which the health of a Pod was not UP: of each consumer its worst Pod. 0 is good.',
    unit: 'short',
    queries: { '{{CONSUMER}}': `max by (${by}) (${own(METRICS.healthFailures)})` },
    limits: limits('HealthCheckFailing'),
  },
];

const recordsOfConsumers = (scope: DashboardScope, by: string): Overview[] => [
  {
    id: 4,
    title: 'Messages consumed per second',
    description: 'Records whose transaction committed in PostgreSQL, dead letters included.',
    unit: 'mps',
    queries: {
      '{{CONSUMER}}': `sum by (${by}) (rate(${scope.own(`${METRICS.batchRecords.name}_sum`)}[$__rate_interval]))`,
    },
  },
  {
    id: 5,
    title: 'Consumer lag',
    description: 'Records that PostgreSQL does not have yet, of the topic for which it is most.',
    unit: 'short',
    queries: {
      '{{CONSUMER}}': `max by (${by}) (sum by (${by}, topic) (max by (${by}, topic, partition) (${scope.own(METRICS.recordsLag)})))`,
    },
    limits: scope.limits('ConsumerLagHigh'),
  },
  {
    id: 6,
    title: 'Oldest record that waits',
    description: 'Age of the oldest record that is not in PostgreSQL.',
    unit: 's',
    queries: { '{{CONSUMER}}': `max by (${by}) (${scope.own(METRICS.lagSeconds)})` },
    limits: scope.limits('ConsumerLagTime'),
  },
];

const workOfConsumers = (scope: DashboardScope, by: string): Overview[] => [
  {
    id: 7,
    title: 'Processing latency',
    description: 'From the fetch of the oldest record of a write to its commit, of 99 % of the writes.',
    unit: 's',
    queries: { '{{CONSUMER}}': quantile(scope, 0.99, METRICS.processing, `${by}, `) },
  },
  {
    id: 8,
    title: 'Error rates',
    description: 'Errors that pass by themselves and are tried again, and dead letters.',
    unit: 'cps',
    queries: {
      '{{CONSUMER}} errors': `sum by (${by}) (rate(${scope.own(METRICS.errors)}[$__rate_interval]))`,
      '{{CONSUMER}} dead letters': `sum by (${by}) (rate(${scope.own(METRICS.deadLetters)}[$__rate_interval]))`,
    },
  },
  {
    id: 9,
    title: 'Resident memory',
    description: 'Of each consumer its largest Pod.',
    unit: 'bytes',
    queries: { '{{CONSUMER}}': `max by (${by}) (${scope.own(METRICS.residentMemory)})` },
    limits: scope.limits('MemoryHigh', ({ file }) => memoryBytes(file.resources.limits.memory)),
  },
];

/** A legend names the consumer and its namespace; a click on its series leads to the consumer. */
function overviewPanel(scope: DashboardScope, panel: Overview): PanelDefinition {
  const { consumerLabel } = scope;
  const named = (legend: string) => legend.replace('{{CONSUMER}}', `{{namespace}}/{{${consumerLabel}}}`);
  const variables = `var-namespace=\${__field.labels.namespace}&var-consumer=\${__field.labels.${consumerLabel}}`;
  return {
    ...panel,
    width: THIRD,
    queries: Object.fromEntries(Object.entries(panel.queries).map(([legend, expr]) => [named(legend), expr])),
    link: {
      title: 'This consumer',
      url: `/d/${dashboardUid(STREAM_CONSUMER_UID, scope)}?${variables}&\${__url_time_range}`,
    },
  };
}

/** All consumers side by side, in one namespace or in many. */
export function streamConsumersDashboard(workloads: ShownConsumers): string {
  const scope = dashboardScope(workloads, { ofPods: false });
  const by = `namespace, ${scope.consumerLabel}`;
  const panels = [...stateOfConsumers(scope, by), ...recordsOfConsumers(scope, by), ...workOfConsumers(scope, by)];
  return dashboardJson({
    uid: 'stream-consumers',
    title: 'Stream consumers',
    description:
      'All consumers that write records of Kafka into PostgreSQL; a click on a series leads to its consumer.',
    variables: [
      { name: 'namespace', title: 'Namespace', label: 'namespace', within: [], choice: 'several' },
      {
        name: 'consumer',
        title: 'Consumer',
        label: scope.consumerLabel,
        within: ['namespace=~"$namespace"'],
        choice: 'several',
      },
      topicVariable(['namespace=~"$namespace"', `${scope.consumerLabel}=~"$consumer"`]),
    ],
    rows: [{ id: 100, title: 'All consumers', panels: panels.map((panel) => overviewPanel(scope, panel)) }],
    scope,
  });
}
