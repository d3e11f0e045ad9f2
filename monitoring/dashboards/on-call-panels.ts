import { HEALTH_STATUS_CODE } from '../../contract/metrics/definition.ts';
import { METRICS } from '../../contract/metrics.ts';
import { memoryBytes } from '../../deployment/sections/resources.ts';
import { HALF, LEVEL_COLORS, type RowDefinition } from './panel.ts';
import { schemaRegistry } from './registry-panels.ts';
import { type DashboardScope, POD } from './scope.ts';
import { quantile } from './specified-panels.ts';
import { tables } from './table-panels.ts';

/** Average of a summary or a histogram. */
const average = ({ own }: DashboardScope, { name }: { readonly name: string }): string =>
  `sum(rate(${own(`${name}_sum`)}[$__rate_interval])) / sum(rate(${own(`${name}_count`)}[$__rate_interval]))`;

/** A consumer says itself what is wrong, Prometheus says so of its scrapes, the rules say so of both. */
const alertsAndHealth = ({ own, ofAllPods, byPod, limits }: DashboardScope): RowDefinition => ({
  id: 200,
  title: 'Alerts and health',
  panels: [
    {
      id: 11,
      title: 'Alerts firing',
      description: 'Every alert about this consumer that fires, of whatever rules; each one counts by its series.',
      unit: 'short',
      // Prometheus' own series, which has no Pod where an alert is about none.
      queries: {
        '{{alertname}} {{severity}}': `sum by (alertname, severity) (${ofAllPods('ALERTS', 'alertstate="firing"')})`,
      },
      isStacked: true,
      colors: LEVEL_COLORS,
    },
    {
      id: 14,
      title: 'Health by component',
      description: 'Status of each component of /actuator/health, of the Pod for which it is worst.',
      unit: 'short',
      queries: { '{{component}}': `min by (component) (${own(METRICS.health)})` },
      words: Object.fromEntries(Object.entries(HEALTH_STATUS_CODE).map(([status, code]) => [code, status])),
    },
    {
      id: 12,
      title: 'Health checks failed in a row',
      description:
        "Evaluations in which a Pod's own health was not UP, and Pods that do not answer Prometheus. 0 is good.",
      unit: 'short',
      queries: {
        [`${POD} not UP`]: byPod('max', (own) => own(METRICS.healthFailures)),
        [`${POD} not scraped`]: byPod('max', (own) => `1 - ${own('up')}`),
      },
      limits: limits('HealthCheckFailing'),
    },
    {
      id: 13,
      title: 'Restarts within 15 minutes',
      description: 'Starts of a container beside its first. A Pod that is replaced does not count.',
      unit: 'short',
      queries: { [POD]: byPod('max', (own) => `changes(${own(METRICS.startTime)}[15m])`) },
      limits: limits('ConsumerRestarting'),
    },
  ],
});

const time = (scope: DashboardScope): RowDefinition => ({
  id: 300,
  title: 'Where time goes',
  panels: [
    {
      id: 21,
      title: 'Where time goes',
      description:
        'Average of each step: a fetch, which waits for records; the wait for a connection of the pool; the transaction; from the fetch to the commit, the time in the queue included.',
      unit: 's',
      queries: {
        fetch: `avg(${scope.own(METRICS.clientFetchLatencyAvg)}) / 1000`,
        'wait for a connection': average(scope, METRICS.hikariAcquire),
        transaction: average(scope, METRICS.hikariUsage),
        'fetch to commit': average(scope, METRICS.processing),
      },
      width: HALF,
    },
    {
      id: 22,
      title: 'Producer to commit',
      description:
        "From a record's timestamp to the commit of its transaction: of half of the records, of 99 %. A backlog shows here.",
      unit: 's',
      queries: { p50: quantile(scope, 0.5, METRICS.endToEnd), p99: quantile(scope, 0.99, METRICS.endToEnd) },
    },
    {
      id: 23,
      title: 'Oldest record that waits',
      description: 'Age of the oldest record of a topic that is not in PostgreSQL. 0 without lag.',
      unit: 's',
      queries: { '{{topic}}': `max by (topic) (${scope.own(METRICS.lagSeconds)})` },
      limits: scope.limits('ConsumerLagTime'),
    },
  ],
});

const database = (scope: DashboardScope): RowDefinition => ({
  id: 400,
  title: 'PostgreSQL',
  panels: [
    {
      id: 31,
      title: 'Connection pool',
      description:
        'Connections of the writers, of all Pods together. Writers that wait while all connections are in use want more of them, or a faster PostgreSQL.',
      unit: 'short',
      queries: {
        'in use': `sum(${scope.own(METRICS.poolActive)})`,
        idle: `sum(${scope.own(METRICS.poolIdle)})`,
        'writers that wait': `sum(${scope.own(METRICS.poolPending)})`,
        'at most': `sum(${scope.own(METRICS.poolMax)})`,
      },
    },
    {
      id: 32,
      title: 'Connections that failed within 5 minutes',
      description: 'By Pod. All Pods: PostgreSQL or the way to it. One Pod: its node.',
      unit: 'short',
      queries: { [POD]: scope.byPod('sum', (own) => `increase(${own(METRICS.databaseConnectionFailures)}[5m])`) },
      limits: scope.limits('DatabaseConnectionFailures'),
    },
    {
      id: 33,
      title: 'Writes by outcome',
      description:
        'Writes of a partition per second: committed, fenced because another writer had moved the offset, failed and to be tried again.',
      unit: 'wps',
      queries: { '{{outcome}}': `sum by (outcome) (rate(${scope.own(METRICS.transactions)}[$__rate_interval]))` },
    },
    {
      id: 34,
      title: 'Time at a standstill',
      description:
        'Share of the time in which a Pod wrote nothing of at least one partition, since PostgreSQL was away or busy.',
      unit: 'percentunit',
      queries: { [POD]: scope.byPod('sum', (own) => `rate(${own(METRICS.pausedSeconds)}[$__rate_interval])`) },
    },
  ],
});

const kafka = ({ own, ofAllTopics, byPod, limits }: DashboardScope): RowDefinition => ({
  id: 500,
  title: 'Kafka',
  panels: [
    {
      id: 41,
      title: 'Silence of the brokers',
      description: 'Time since a broker last reported where a topic ends. Beyond a minute the lag is not known.',
      unit: 's',
      queries: { '{{topic}}': `max by (topic) (${own(METRICS.logEndAge)})` },
      limits: limits('KafkaUnreachable'),
    },
    {
      id: 42,
      title: 'Rebalances within 15 minutes',
      description:
        'Joins of the group that ended with an assignment, by Pod. A Pod that comes or goes makes one for each of the others.',
      unit: 'short',
      queries: { [POD]: byPod('max', (own) => `increase(${own(METRICS.clientRebalances)}[15m])`) },
      limits: limits('RebalanceStorm'),
    },
    {
      id: 43,
      title: 'Partitions by Pod',
      description:
        'What the group gave to each Pod. A Pod without partitions waits for one to leave; a partition without a Pod is in no lag.',
      unit: 'short',
      queries: {
        [POD]: byPod('max', (own) => own(METRICS.clientAssigned)),
        'none, or another Pod': `clamp_min(sum(max by (topic) (${ofAllTopics(METRICS.topicPartitions)})) - sum(max by (pod, instance) (${own(METRICS.clientAssigned)})), 0)`,
      },
      colors: { 'another Pod': 'red' },
      isStacked: true,
    },
    {
      id: 44,
      title: 'Bytes fetched',
      description: 'Keys and values after decompression, by topic, whether or not they were written since.',
      unit: 'Bps',
      queries: { '{{topic}}': `sum by (topic) (rate(${own(METRICS.clientBytesConsumed)}[$__rate_interval]))` },
    },
  ],
});

const deadLetters = ({ own, limits }: DashboardScope): RowDefinition => ({
  id: 600,
  title: 'Dead letters, and records in no table',
  panels: [
    {
      id: 51,
      title: 'Dead letters by reason',
      description: 'Records per second that PostgreSQL cannot store; they are kept, byte for byte.',
      unit: 'cps',
      queries: { '{{reason}}': `sum by (reason) (rate(${own(METRICS.deadLetters)}[$__rate_interval]))` },
      width: HALF,
    },
    {
      id: 52,
      title: 'Share of dead letters',
      description: 'Of the records of a topic within ten minutes. The alert asks for at least ten letters, too.',
      unit: 'percentunit',
      queries: {
        '{{topic}}': `sum by (topic) (increase(${own(METRICS.deadLetters)}[10m])) / sum by (topic) (increase(${own(`${METRICS.batchRecords.name}_sum`)}[10m]))`,
      },
      limits: limits('DeadLettersHigh'),
    },
    {
      id: 601,
      title: 'Dead letters that wait',
      description:
        'In the table, by topic, counted once a minute: until they are replayed, discarded or, with deadLetters.keep, expired.',
      unit: 'short',
      queries: { '{{topic}}': `max by (topic) (${own(METRICS.deadLettersWaiting)})` },
    },
    {
      id: 602,
      title: 'Age of the oldest dead letter',
      description: 'Of those in the table, by topic; 0 where there is none.',
      unit: 's',
      queries: { '{{topic}}': `max by (topic) (${own(METRICS.deadLettersOldest)})` },
      limits: limits('DeadLettersWaiting'),
    },
    {
      id: 53,
      title: 'Records in no table, within 15 minutes',
      description:
        'Offsets that Kafka deleted before they were read, where consumer.onGap skips them; rows that a trigger dropped, where records.onDroppedRows allows it; dead letters that deadLetters.keep deleted. Anything but nothing is worth a look.',
      unit: 'short',
      queries: {
        '{{topic}} skipped offsets': `sum by (topic) (increase(${own(METRICS.skippedOffsets)}[15m]))`,
        '{{topic}} dropped rows': `sum by (topic) (increase(${own(METRICS.rowsDropped)}[15m]))`,
        '{{topic}} expired letters': `sum by (topic) (increase(${own(METRICS.deadLettersExpired)}[15m]))`,
      },
      limits: limits('RecordsSkipped'),
    },
  ],
});

const processPanels = ({ own, byPod, limits }: DashboardScope): RowDefinition => ({
  id: 700,
  title: 'Process',
  panels: [
    {
      id: 61,
      title: 'Resident memory',
      description: 'By Pod; the kernel kills the container at its limit.',
      unit: 'bytes',
      queries: { [POD]: byPod('max', (own) => own(METRICS.residentMemory)) },
      limits: limits('MemoryHigh', ({ file }) => memoryBytes(file.resources.limits.memory)),
    },
    {
      id: 62,
      title: 'Heap after collections',
      description: "Share of the heap's limit that long-lived objects took after the last collection, by Pod.",
      unit: 'percentunit',
      queries: { [POD]: byPod('max', (own) => own(METRICS.memoryAfterGc)) },
      limits: limits('HeapNearItsLimit'),
    },
    {
      id: 63,
      title: 'Processors in use',
      description: 'By Pod. JavaScript itself runs on one.',
      unit: 'short',
      queries: { [POD]: byPod('sum', (own) => `rate(${own(METRICS.cpuTime)}[$__rate_interval]) / 1e9`) },
    },
    {
      id: 64,
      title: 'Warnings and errors in the log',
      description: 'Lines per second, by level, and lines that were lost since nothing read them.',
      unit: 'cps',
      queries: {
        '{{level}}': `sum by (level) (rate(${own(METRICS.logEvents, 'level=~"warn|error"')}[$__rate_interval]))`,
        lost: `sum(rate(${own(METRICS.logLinesDropped)}[$__rate_interval]))`,
      },
    },
  ],
});

/** What the person on call asks next, by what it is about. */
export const onCallRows = (scope: DashboardScope): RowDefinition[] =>
  [alertsAndHealth, time, database, kafka, deadLetters, tables, schemaRegistry, processPanels].map((row) => row(scope));
