import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { METRICS, type MetricDefinition } from '../../../contract/metrics.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { type PrometheusServer, startPrometheus } from '../stack/prometheus-server.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { QUERIES, REPEATED, WITHOUT_COUNTERPART } from './jvm-micrometer.ts';

const APPLICATION = 'orders';

const hasPrometheus = spawnSync('prometheus', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

if (!hasPrometheus && !isRequired) {
  process.stderr.write(
    'prometheus is not installed (Debian: apt-get install prometheus): its dashboard is NOT tested\n',
  );
}

let consumer: StartedConsumer;
let prometheus: PrometheusServer;
let topic: string;

/** The query for our consumer, as Grafana would send it. */
function filledIn(query: string, id = ''): string {
  return query
    .replaceAll('$me', 'application="$application", instance="$instance"')
    .replaceAll('$application', APPLICATION)
    .replaceAll('$instance', `127.0.0.1:${consumer.port}`)
    .replaceAll('$id', id);
}

(hasPrometheus || isRequired ? describe : describe.skip)('a Prometheus that scrapes the consumer', () => {
  beforeAll(async () => {
    topic = await createTopic({ partitions: 2 });
    await produce(
      topic,
      [0, 0, 1].map((partition) => ({ partition, value: '{}' })),
    );
    consumer = await startConsumer({
      topics: [topic],
      settings: { management: { metrics: { tags: { application: APPLICATION } } } },
    });
    await awaitEachOnce({ schema: consumer.schema, topic, records: 3 });
    await consumer.waitForHealth();
    const target = { targets: [`127.0.0.1:${consumer.port}`] };
    const job = { job_name: 'consumer', metrics_path: consumer.endpoint.prometheusPath, static_configs: [target] };
    prometheus = await startPrometheus({ scrapeConfigs: [job] });
  });

  test.each(Object.entries(QUERIES))('the panel %s finds its series', async (_panel, queries) => {
    for (const query of queries) {
      expect([query, (await prometheus.query(filledIn(query))).length > 0]).toEqual([query, true]);
    }
  });

  test.each(['Heap used', 'Non-Heap used'])('the panel %s shows a share between 0 and 100 %%', async (panel) => {
    const [found] = await prometheus.query(filledIn(QUERIES[panel]?.[0] ?? ''));
    const percent = Number(found?.value[1]);
    expect([percent, percent > 0 && percent < 100]).toEqual([percent, true]);
  });

  test.each(Object.entries(REPEATED))(
    'the panels of the row %s find theirs',
    async (_row, { values, label, queries }) => {
      const ids = (await prometheus.query(filledIn(values))).map(({ metric }) => metric[label]);
      expect(ids.length).toBeGreaterThan(1);
      for (const id of ids) {
        for (const query of queries) {
          expect([query, id, (await prometheus.query(filledIn(query, id))).length]).toEqual([query, id, 1]);
        }
      }
    },
  );

  test('what is said to have no counterpart finds nothing', async () => {
    for (const query of Object.keys(WITHOUT_COUNTERPART)) {
      expect([query, await prometheus.query(filledIn(query))]).toEqual([query, []]);
    }
  });

  test('Prometheus has every family of a consumer without TLS, tables, templates, deadLetters.keep and schema registry, each series with its application, and no value is NaN', async () => {
    const ofOthers = new Set<MetricDefinition>([
      METRICS.certificateExpiry,
      ...[METRICS.tableRecords, METRICS.unmappedFields, METRICS.unmatchedRecords, METRICS.tableDeadLetters],
      ...[METRICS.topicsWaiting, METRICS.topicWaitingRetention, METRICS.deadLettersExpired],
      ...[METRICS.schemaRequests, METRICS.schemaWait, METRICS.schemas],
    ]);
    const metrics = Object.values<MetricDefinition>(METRICS).filter((metric) => !ofOthers.has(metric));
    const found = await prometheus.query(`{job="consumer",application="${APPLICATION}"}`);
    const names = new Set(found.map(({ metric }) => metric['__name__']));
    for (const { name, type } of metrics) {
      expect(names).toContain(type === 'summary' || type === 'histogram' ? `${name}_count` : name);
    }
    expect(found.filter(({ value }) => value[1] === 'NaN')).toEqual([]);
    const others = (await prometheus.query('{job="consumer",application=""}')).map(({ metric }) => metric['__name__']);
    expect(others.filter((name) => name !== 'up' && !name?.startsWith('scrape_'))).toEqual([]);
  });

  test('Kafka client, latencies and log show what was done', async () => {
    const value = async (query: string) => Number((await prometheus.query(query))[0]?.value[1]);
    const of = (metric: MetricDefinition, suffix = '') => `sum(${metric.name}${suffix}{topic="${topic}"})`;
    expect(await value(of(METRICS.clientRecordsConsumed))).toBe(3);
    expect(await value(of(METRICS.clientBytesConsumed))).toBe(6);
    expect(await value(of(METRICS.rowsWritten))).toBe(3);
    expect(await value(of(METRICS.endToEnd, '_count'))).toBe(3);
    expect(await value(of(METRICS.batchRecords, '_sum'))).toBe(3);
    expect(await value(of(METRICS.processing, '_count'))).toBeGreaterThan(0);
    expect(await value(of(METRICS.lagSeconds))).toBe(0);
    expect(await value(METRICS.clientAssigned.name)).toBe(2);
    for (const { name } of [
      METRICS.clientFetches,
      METRICS.clientRebalances,
      METRICS.clientRequests,
      METRICS.clientHeartbeats,
    ]) {
      expect([name, (await value(name)) > 0]).toEqual([name, true]);
    }
    expect(await value(`${METRICS.logEvents.name}{level="info"}`)).toBeGreaterThan(0);
    expect(await value(`${METRICS.hikariUsage.name}_count`)).toBeGreaterThan(0);
    expect(await value(`${METRICS.hikariCreation.name}_count`)).toBeGreaterThan(0);
  });
});
