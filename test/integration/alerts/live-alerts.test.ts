import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { prometheusFiles } from '../../../monitoring/prometheus-files.ts';
import { exampleWorkload } from '../../charts/example-consumer.ts';
import { withDatabase } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startPrivateKafka, startPrivatePostgres } from '../stack/private-servers.ts';
import { type PrometheusServer, startPrometheus } from '../stack/prometheus-server.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';
import { type Alertmanager, type Notification, startAlertmanager } from './alertmanager.ts';

/** Every time in the rules and in the scrape job is this many times shorter; the consumer's own times are its own. */
const TIMES_SHORTER = 15;

const MISSING = ['prometheus', 'prometheus-alertmanager'].filter(
  (program) => spawnSync(program, ['--version']).error !== undefined,
);
const isRequired = process.env['CI'] === 'true';

if (MISSING.length > 0 && !isRequired) {
  process.stderr.write(`not installed, so that no alert is seen to fire (Debian: apt-get install): ${MISSING}\n`);
}

const SECONDS = { s: 1, m: 60, h: 3_600 } as const;

const shorter = (amount: string, unit: keyof typeof SECONDS = 's'): number =>
  Math.ceil((Number(amount) * SECONDS[unit]) / TIMES_SHORTER);

/** Shortens what stands in brackets, in `for`, `keep_firing_for` and `interval`, and the age of a process. */
const scaled = (text: string): string =>
  text
    .replaceAll(/\[(\d+)([smh])\]/g, (_, amount, unit) => `[${shorter(amount, unit)}s]`)
    .replaceAll(
      /(for|interval|timeout): (\d+)([smh])$/gm,
      (_, key, amount, unit) => `${key}: ${shorter(amount, unit)}s`,
    )
    .replaceAll(/(process_start_time_seconds\{[^}]*\}) < (\d+)/g, (_, age, amount) => `${age} < ${shorter(amount)}`);

/** Rules and scrape job of a consumer, as synth writes them, with the port at which it listens. */
function synthesized(name: string, port: number) {
  const monitoring = { staticTargets: [`127.0.0.1:${port}`] };
  const files = prometheusFiles(exampleWorkload({ name, monitoring }));
  const text = (file: string) => scaled(files.get(file) ?? '');
  const { scrape_configs } = parse(text('scrape.yml')) as { scrape_configs: readonly unknown[] };
  return { scrapeConfigs: scrape_configs, groups: text('rules.yml').replace(/^[\s\S]*?groups:\n/, '') };
}

let alertmanager: Alertmanager;
let prometheus: PrometheusServer;
let postgres: Awaited<ReturnType<typeof startPrivatePostgres>>;
let kafka: Awaited<ReturnType<typeof startPrivateKafka>>;
let behind: StartedConsumer;
let topic: string;

/** Of one consumer, the last that the receiver was told of an alert. */
const lastOf = (job: string, alert: string, severity: string) =>
  alertmanager.received.findLast(
    ({ labels }) => labels['job'] === job && labels['alertname'] === alert && labels['severity'] === severity,
  );

const awaitStatus = (status: 'firing' | 'resolved', job: string, alert: string, severity = 'critical') =>
  until(
    `${alert} of ${job} to be ${status}`,
    async () => {
      const told = lastOf(job, alert, severity);
      return told?.status === status ? told : undefined;
    },
    150_000,
  );

const awaitState = (expected: 'pending' | 'firing', job: string, alert: string) =>
  until(
    `${alert} of ${job} to be ${expected}`,
    async () =>
      (await prometheus.alerts()).find(
        ({ state, labels }) => state === expected && labels['job'] === job && labels['alertname'] === alert,
      ),
    150_000,
  );

/** Made all at once, each by a trouble of its own; they give what fired. */
let journeys: Readonly<Record<'postgres' | 'kafka' | 'lag', Promise<Notification>>>;

async function stopPostgres(): Promise<Notification> {
  await postgres.stop();
  const fired = await awaitStatus('firing', 'without-postgres', 'DatabaseConnectionFailures');
  await awaitState('firing', 'without-postgres', 'HealthCheckFailing');
  await postgres.start();
  await awaitStatus('resolved', 'without-postgres', 'DatabaseConnectionFailures');
  return fired;
}

async function freezeKafka(): Promise<Notification> {
  process.kill(kafka.pid, 'SIGSTOP');
  await awaitState('pending', 'without-kafka', 'KafkaUnreachable');
  const fired = await awaitStatus('firing', 'without-kafka', 'KafkaUnreachable');
  process.kill(kafka.pid, 'SIGCONT');
  await awaitStatus('resolved', 'without-kafka', 'KafkaUnreachable');
  return fired;
}

async function lockTable(): Promise<Notification> {
  const records = Array.from({ length: 12_000 }, () => ({ value: '{}' }));
  const fired = await withDatabase(async ({ client }) => {
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${behind.schema}.records IN SHARE MODE`);
    await produce(topic, records);
    await awaitState('pending', 'behind', 'ConsumerLagHigh');
    const told = await awaitStatus('firing', 'behind', 'ConsumerLagHigh', 'warning');
    await client.query('COMMIT');
    return told;
  });
  await awaitEachOnce({ schema: behind.schema, topic, records: records.length });
  await awaitStatus('resolved', 'behind', 'ConsumerLagHigh', 'warning');
  return fired;
}

(MISSING.length === 0 || isRequired ? describe : describe.skip)('a live Prometheus and Alertmanager', () => {
  beforeAll(async () => {
    [postgres, kafka, alertmanager, topic] = await Promise.all([
      startPrivatePostgres(),
      startPrivateKafka(),
      startAlertmanager(),
      createTopic(),
    ]);
    const [withoutPostgres, withoutKafka] = await Promise.all([
      createTopic().then((own) => startConsumer({ topics: [own], databaseUrl: postgres.urlWithPassword })),
      createTopic(kafka).then((own) => startConsumer({ topics: [own], brokers: [kafka.broker] })),
    ]);
    behind = await startConsumer({ topics: [topic] });
    const jobs = { 'without-postgres': withoutPostgres, 'without-kafka': withoutKafka, behind };
    await Promise.all(Object.values(jobs).map((consumer) => consumer.waitForHealth()));
    const rendered = Object.entries(jobs).map(([name, { port }]) => synthesized(name, port));
    prometheus = await startPrometheus({
      scrapeConfigs: rendered.flatMap(({ scrapeConfigs }) => scrapeConfigs),
      rules: `groups:\n${rendered.map(({ groups }) => groups).join('')}`,
      alertmanager: alertmanager.address,
    });
    expect(await prometheus.alerts()).toEqual([]);
    journeys = { postgres: stopPostgres(), kafka: freezeKafka(), lag: lockTable() };
    await Promise.allSettled(Object.values(journeys));
  });

  afterAll(() => alertmanager.close());

  test('PostgreSQL stopped: told at once with its text and its Pod, resolved when it is back', async () => {
    const { annotations, labels } = await journeys.postgres;
    expect(annotations['description']).toMatch(/^without-postgres in stream-consumer .*: failed connections .* \d+\.$/);
    expect(labels['instance']).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  test('while PostgreSQL is away its own alert is told, not that of the health which fails with it', async () => {
    await journeys.postgres;
    expect(lastOf('without-postgres', 'HealthCheckFailing', 'critical')).toBeUndefined();
  });

  test('Kafka frozen: pending, then firing for its topic, resolved when it goes on', async () => {
    const { annotations } = await journeys.kafka;
    expect(annotations['description']).toMatch(/for 1m \d+s no broker has told where topic \S+ ends\.$/);
  });

  test('lag behind a locked table: pending, then firing with its number, resolved once it is written', async () => {
    const { annotations } = await journeys.lag;
    const text = `behind in stream-consumer is 12k records behind the end of topic ${topic}.`;
    expect(annotations['description']).toBe(text);
  });
});
