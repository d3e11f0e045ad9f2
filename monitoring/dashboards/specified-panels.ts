import { METRICS } from '../../contract/metrics.ts';
import type { PanelDefinition, RowDefinition } from './panel.ts';
import { type DashboardScope, POD } from './scope.ts';

const HEAP = 'area="heap"';
const REST = 'area="nonheap"';

/** PromQL of a quantile of a histogram. */
export const quantile = ({ own }: DashboardScope, share: number, metric: { readonly name: string }, by = ''): string =>
  `histogram_quantile(${share}, sum by (${by}le) (rate(${own(`${metric.name}_bucket`)}[$__rate_interval])))`;

const runtimePanels = ({ byPod }: DashboardScope): PanelDefinition[] => [
  {
    id: 1,
    title: 'Heap memory',
    description:
      "V8's heap by Pod: what objects take, what is reserved for them, and the most that it may take. What is used swings with the collections; the row Process has what they leave.",
    unit: 'bytes',
    queries: {
      [`${POD} used`]: byPod('sum', (own) => own(METRICS.memoryUsed, HEAP)),
      [`${POD} committed`]: byPod('sum', (own) => own(METRICS.memoryCommitted, HEAP)),
      [`${POD} limit`]: byPod('max', (own) => own(METRICS.memoryMax, HEAP)),
    },
  },
  {
    id: 2,
    title: 'Non-heap memory',
    description:
      'Resident memory outside of the heap by Pod: array_buffers hold the records, external belongs to other objects, native is the program itself.',
    unit: 'bytes',
    queries: { [`${POD} {{id}}`]: byPod('sum', (own) => own(METRICS.memoryUsed, REST), 'id') },
  },
  {
    id: 3,
    title: 'Garbage collection',
    description:
      'Seconds of each second that Pods spend in pauses of the collector, and the longest pause of the last three minutes.',
    unit: 's',
    queries: {
      [`${POD} pauses per second`]: byPod(
        'sum',
        (own) => `rate(${own(`${METRICS.gcPause.name}_sum`)}[$__rate_interval])`,
      ),
      [`${POD} longest`]: byPod('max', (own) => own(METRICS.gcPauseMax)),
    },
  },
  {
    id: 4,
    title: 'Thread counts',
    description:
      "Threads of the process by Pod: JavaScript's one, V8's and libuv's helpers. The numbers stay what they are; threads that grow in number are a fault.",
    unit: 'short',
    queries: {
      [`${POD} live`]: byPod('max', (own) => own(METRICS.threadsLive)),
      [`${POD} daemon`]: byPod('max', (own) => own(METRICS.threadsDaemon)),
      [`${POD} peak`]: byPod('max', (own) => own(METRICS.threadsPeak)),
    },
  },
];

const recordPanels = (scope: DashboardScope): PanelDefinition[] => [
  {
    id: 6,
    title: 'Consumer lag',
    description:
      'Records of each topic that PostgreSQL does not have yet. While brokers report nothing, the lag is not known and the line ends.',
    unit: 'short',
    queries: { '{{topic}}': `sum by (topic) (max by (topic, partition) (${scope.own(METRICS.recordsLag)}))` },
    limits: scope.limits('ConsumerLagHigh'),
  },
  {
    id: 5,
    title: 'Messages consumed per second',
    description:
      'Records whose transaction committed in PostgreSQL, dead letters included, by topic. It counts what each process wrote, whoever owns the partitions now, and so does not fall at a rebalance.',
    unit: 'mps',
    queries: {
      '{{topic}}': `sum by (topic) (rate(${scope.own(`${METRICS.batchRecords.name}_sum`)}[$__rate_interval]))`,
    },
  },
  {
    id: 7,
    title: 'Processing latency',
    description:
      'From the fetch of the oldest record of a write to its commit in PostgreSQL: of half of the writes, of 99 %. There is none while nothing is written.',
    unit: 's',
    queries: {
      p50: quantile(scope, 0.5, METRICS.processing),
      p99: quantile(scope, 0.99, METRICS.processing),
    },
  },
  {
    id: 8,
    title: 'Error rates',
    description:
      'Errors that pass by themselves and are tried again, by reason, and dead letters of any reason. No record is lost by either.',
    unit: 'cps',
    queries: {
      '{{reason}}': `sum by (reason) (rate(${scope.own(METRICS.errors)}[$__rate_interval]))`,
      'dead letters': `sum(rate(${scope.own(METRICS.deadLetters)}[$__rate_interval]))`,
    },
  },
];

/** The eight panels that a dashboard of the consumer has to have, first of all: what its users notice, then why. */
export const specifiedPanels = (scope: DashboardScope): RowDefinition => ({
  id: 100,
  title: 'The consumer',
  panels: [...recordPanels(scope), ...runtimePanels(scope)],
});
