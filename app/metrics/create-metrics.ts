import { PRODUCT_NAME } from '../../contract/identity.ts';
import { HEALTH_STATUS_CODE, type HealthStatus, type SchemaRequestOutcome } from '../../contract/metrics/definition.ts';
import type { Settings } from '../../settings/settings.ts';
import type { ClientListener } from '../kafka/client/client-listener.ts';
import { KAFKAJS_VERSION } from '../kafka/kafkajs/internals.ts';
import type { PoolFigures } from '../store/connection/database-pool.ts';
import type { LetterReport } from '../store/tables/kept-letters.ts';
import type { ConsumerReport } from '../stream/partition/consumer-state.ts';
import type { StreamListener } from '../stream/ports/stream-listener.ts';
import { PoolMetrics } from './consumer/connection-pool.ts';
import { ConsumerCounters } from './consumer/consumer-counters.ts';
import { KafkaClientMetrics } from './consumer/kafka-client.ts';
import { SchemaMetrics } from './consumer/schema-registry.ts';
import { Exposition, type ExpositionFormat } from './exposition/exposition.ts';
import { MetricReader } from './exposition/metric-reading.ts';
import { type MetricSources, oncePerScrape, single } from './exposition/metric-source.ts';
import { HttpRequests } from './process/http-server-requests.ts';
import { GarbageCollection, HeapActivity } from './process/jvm-gc.ts';
import { DiskSpace, type LogEvents, ProcessStart, processCpuSources } from './process/process.ts';
import { processStatusSources } from './process/process-status.ts';
import type { ProductBuild } from './process/product-build.ts';
import { EventLoopLag, memorySources } from './process/runtime.ts';

/** The topics that are read now; another object each time that they change. */
export interface CountedTopics {
  readonly all: readonly string[];
  readonly settings: Pick<Settings, 'tables'>;
}

/** Sources outside of this room. */
export interface MetricsOptions {
  readonly settings: Pick<Settings, 'kafka' | 'management'>;
  readonly topics: CountedTopics;
  readonly build: ProductBuild;
  readonly report: () => ConsumerReport;
  readonly pool: () => PoolFigures;
  /** Schemas of the registry that are kept; `null` where the settings have no registry. */
  readonly schemas: () => number | null;
  /** What is known of the dead letters in the table. */
  readonly letters: () => LetterReport;
  /** What has counted the lines of the log. */
  readonly logEvents: Pick<LogEvents, 'sources'>;
  /** Evaluations of the consumer's health in a row that were not UP. */
  readonly healthFailures: () => number;
  /** Status of every component of the health by its name. */
  readonly healthStatuses: () => ReadonlyMap<string, HealthStatus>;
  /**
   * When each certificate in use expires: `server` of the HTTP interface, the others by the system that they are shown
   * to.
   */
  readonly certificates: () => ReadonlyMap<string, Date>;
}

/** The consumer's metrics: their inputs, the scrape, and single readings. */
export interface Metrics {
  /** Events of the pipeline, and the times of its writes. */
  readonly listener: StreamListener & Pick<ConsumerCounters, 'measured'>;
  /** Events of the Kafka client. */
  readonly client: ClientListener;
  /** Durations of the writing pool's connections. */
  readonly connections: Pick<PoolMetrics, 'observe' | 'timedOut'>;
  /** Counts an answer of the schema registry, or one that did not come. */
  schemaAnswered(outcome: SchemaRequestOutcome): void;
  readonly http: HttpRequests;
  readonly startup: Pick<ProcessStart, 'started' | 'ready'>;
  /** Counts a connection to PostgreSQL that could not be opened or broke. */
  databaseConnectionFailed(): void;
  /** Writes all or some families for Prometheus. */
  write(format: ExpositionFormat, includedNames?: ReadonlySet<string>): Promise<string>;
  readonly reader: MetricReader;
  /** Counts of records, for what shows them to people. */
  readonly figures: Pick<
    MetricSources,
    'recordsConsumed' | 'rowsWritten' | 'tableRecords' | 'deadLetters' | 'tableDeadLetters'
  >;
  /**
   * Begins to watch the garbage collector and the event loop. Resolves when every figure is known; nothing has to wait
   * for it.
   */
  start(): Promise<void>;
  stop(): void;
}

/** Puts every family of the catalogue together with its source. */
export function createMetrics(options: MetricsOptions): Metrics {
  const report = oncePerScrape(options.report);
  const { counters, client, connections, schemas, sources: ofConsumer } = consumerMetrics(options, report);
  const { sources: ofProcess, ...ownProcess } = processMetrics(options);
  let connectionFailures = 0;
  const sources = {
    ...ofConsumer,
    ...ofProcess,
    databaseConnectionFailures: single(() => connectionFailures),
    ...statusSources(options, report),
    ...letterSources(options.letters),
  };
  const tags = { application: PRODUCT_NAME, ...options.settings.management.metrics.tags };
  const expositions = {
    text: new Exposition('text', sources, tags),
    openmetrics: new Exposition('openmetrics', sources, tags),
  };
  return {
    ...ownProcess,
    listener: counters,
    client,
    connections,
    databaseConnectionFailed: () => {
      connectionFailures += 1;
    },
    schemaAnswered: (outcome) => schemas.answered(outcome),
    write: (format, includedNames) => expositions[format].write(includedNames),
    reader: new MetricReader(sources, tags),
    figures: sources,
  };
}

/** Records, the Kafka client, the connections to PostgreSQL and the schemas. */
function consumerMetrics(
  { settings, topics: read, pool, schemas: kept }: MetricsOptions,
  report: () => ConsumerReport,
) {
  const topics = () => read.all;
  const counters = new ConsumerCounters(report, topics, undefined, () => read.settings.tables);
  const identity = { clientId: settings.kafka.clientId, version: `kafkajs ${KAFKAJS_VERSION}`, topics };
  const client = new KafkaClientMetrics(identity, report, (reason) => counters.clientFailed(reason));
  const connections = new PoolMetrics(oncePerScrape(pool));
  const schemas = new SchemaMetrics(report, kept);
  return {
    counters,
    client,
    connections,
    schemas,
    sources: { ...counters.sources, ...client.sources, ...connections.sources, ...schemas.sources },
  };
}

/** The process, its runtime and its HTTP interface. */
function processMetrics({ settings, build, logEvents }: MetricsOptions) {
  const [http, startup] = [new HttpRequests(), new ProcessStart(build)];
  const disk = new DiskSpace(settings.management.health.diskspace.path);
  const watched = [new GarbageCollection(), new HeapActivity(), new EventLoopLag()] as const;
  const [garbageCollection, heapActivity, eventLoop] = watched;
  return {
    http,
    startup,
    start: () => {
      for (const watch of watched) watch.start();
      return disk.refresh();
    },
    stop: () => {
      for (const watch of watched) watch.stop();
    },
    sources: {
      ...http.sources,
      ...logEvents.sources,
      ...memorySources,
      ...garbageCollection.sources,
      ...heapActivity.sources,
      ...eventLoop.sources,
      ...processCpuSources(),
      ...processStatusSources(),
      ...disk.sources,
      ...startup.sources,
    },
  };
}

type StatusMetrics = Pick<
  MetricSources,
  | 'healthFailures'
  | 'health'
  | 'certificateExpiry'
  | 'topicGone'
  | 'topicsWaiting'
  | 'topicWaitingRetention'
  | 'topicPartitions'
  | 'leaderlessPartitions'
>;

/** Status of the health and the certificates, and what Kafka reports of the subscribed topics. */
function statusSources(
  {
    healthFailures,
    healthStatuses,
    certificates,
  }: Pick<MetricsOptions, 'healthFailures' | 'healthStatuses' | 'certificates'>,
  report: () => ConsumerReport,
): StatusMetrics {
  return {
    healthFailures: single(healthFailures),
    health: () =>
      Array.from(healthStatuses(), ([component, status]) => ({
        labels: { component },
        value: HEALTH_STATUS_CODE[status],
      })),
    certificateExpiry: () =>
      Array.from(certificates(), ([bundle, expiresAt]) => ({ labels: { bundle }, value: secondsUntil(expiresAt) })),
    topicGone: () => (report().topics ?? []).map(({ topic, isGone }) => ({ labels: { topic }, value: Number(isGone) })),
    topicsWaiting: () =>
      (report().waiting ?? []).map(({ topic, isIgnored }) => ({ labels: { topic }, value: isIgnored ? 2 : 1 })),
    topicWaitingRetention: () =>
      (report().waiting ?? []).flatMap(({ topic, keptUntil }) =>
        keptUntil ? [{ labels: { topic }, value: Math.max(0, secondsUntil(keptUntil)) }] : [],
      ),
    topicPartitions: () =>
      (report().topics ?? []).flatMap(({ topic, partitions }) =>
        partitions === undefined ? [] : [{ labels: { topic }, value: partitions }],
      ),
    leaderlessPartitions: () =>
      (report().topics ?? []).flatMap(({ topic, leaderless }) =>
        leaderless === undefined ? [] : [{ labels: { topic }, value: leaderless }],
      ),
  };
}

/** The dead letters in the table. */
const letterSources = (
  letters: () => LetterReport,
): Pick<MetricSources, 'deadLettersWaiting' | 'deadLettersOldest' | 'deadLettersExpired'> => ({
  deadLettersWaiting: () =>
    (letters().waiting ?? []).map(({ topic, letters: value }) => ({ labels: { topic }, value })),
  deadLettersOldest: () =>
    (letters().waiting ?? []).map(({ topic, oldestSeconds: value }) => ({ labels: { topic }, value })),
  deadLettersExpired: () => Array.from(letters().expired ?? [], ([topic, value]) => ({ labels: { topic }, value })),
});

const secondsUntil = (moment: Date): number => (moment.getTime() - Date.now()) / 1_000;
