import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import { SampleProducer } from '../../../dev/orders/sample-producer.ts';
import { json, RegistryStub } from '../../app/formats/registry/registry-stub.ts';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { type PrometheusServer, startPrometheus, type TimeRange } from '../stack/prometheus-server.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';

/** The scrape job says 15 s; so many scrapes fit into a minute here. */
export const SCRAPE_SECONDS = 1;

/** Seconds after the start of the run. */
export const TIMELINE = { secondPodComes: 12, postgresStops: 26, postgresIsBack: 38, ends: 62 } as const;

/** What synth gives a Pod of 512 MiB. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=332' };

const PARTITIONS = 6;
const BATCH = 40;
const PAUSE_MS = 80;
const NAMESPACE = 'stream-consumer';

/** What a Prometheus has seen. */
export interface ObservedRun {
  readonly prometheus: PrometheusServer;
  readonly range: TimeRange;
}

interface ScrapeFile {
  readonly scrape_configs: readonly [Readonly<Record<string, unknown>>];
}

/** A Pod as service discovery finds it. */
interface Pod {
  readonly pod: string;
  readonly port: number;
}

/** Sample orders, of which some are broken on purpose, until the run ends. */
async function produceOrders(topic: string, seed: number, isOver: () => boolean): Promise<void> {
  const producer = new SampleProducer({ kafka: kafkaClient(), topic, partitions: PARTITIONS }, seed);
  await producer.connect();
  while (!isOver()) {
    await producer.send(BATCH);
    await delay(PAUSE_MS);
  }
  await producer.disconnect();
}

/** The synthesized job, scraped more often, whose Pods a file lists; and a way to list them. */
async function scrapeJob(consumer: string) {
  const text = readFileSync('dist/prometheus/scrape.yml', 'utf8').replaceAll('orders-consumer', consumer);
  const { static_configs: _, ...job } = (parse(text) as ScrapeFile).scrape_configs[0];
  const file = join(await mkdtemp(join((await testRun()).path, 'targets-')), 'targets.json');
  const times = { scrape_interval: `${SCRAPE_SECONDS}s`, scrape_timeout: `${SCRAPE_SECONDS}s` };
  return {
    job: { ...job, ...times, file_sd_configs: [{ files: [file] }] },
    list: (...pods: readonly Pod[]) =>
      writeFileSync(
        file,
        JSON.stringify(
          pods.map(({ pod, port }) => ({ targets: [`127.0.0.1:${port}`], labels: { namespace: NAMESPACE, pod } })),
        ),
      ),
  };
}

/** A registry with a JSON Schema, whose id some orders begin with. */
async function startRegistry(topic: string): Promise<RegistryStub> {
  const registry = await new RegistryStub().start();
  registry.answer('/schemas/ids/1', json(200, { schemaType: 'JSON', schema: '{"type":"object"}' }));
  await produce(topic, [{ value: Buffer.from('\0\0\0\0\u0001{"orderId":1,"total":1}') }]);
  return registry;
}

/**
 * A minute of two consumers, of which one has a table of its own and a schema registry, under a Prometheus with the
 * rules and the scrape job of dist/: a second Pod comes, then PostgreSQL of the one consumer is away for a while and
 * comes back, and the backlog is worked off.
 */
export async function observeRun(): Promise<ObservedRun> {
  const [postgres, orders, refunds] = await Promise.all([
    startPrivatePostgres(),
    createTopic({ partitions: PARTITIONS }),
    createTopic({ partitions: PARTITIONS }),
  ]);
  const databaseUrl = postgres.urlWithPassword;
  await query(
    'CREATE TABLE public.orders ("orderId" bigint NOT NULL, total numeric); CREATE TABLE public.returns ("orderId" bigint)',
    [],
    databaseUrl,
  );
  const registry = await startRegistry(orders);
  const settings = {
    tables: [
      { topic: orders, table: 'public.orders' },
      { topic: orders, table: 'public.returns', when: { status: ['returned'] } },
    ],
    deadLetters: { keep: '90d' },
    formats: { [orders]: ['registry', 'json'] } as object,
    schemaRegistry: { url: registry.url },
  };
  const ofOrders = { topics: [orders], databaseUrl, env: HEAP, settings };
  const [first, other] = await Promise.all([startConsumer(ofOrders), startConsumer({ topics: [refunds], env: HEAP })]);
  await Promise.all([first.waitForHealth(), other.waitForHealth()]);
  const [watched, beside] = await Promise.all([scrapeJob('orders-consumer'), scrapeJob('refunds-consumer')]);
  const firstPod = { pod: 'orders-consumer-7c9f8d-2xkqv', port: first.port };
  watched.list(firstPod);
  beside.list({ pod: 'refunds-consumer-5b6d4c-hn8wt', port: other.port });
  const prometheus = await startPrometheus({
    scrapeConfigs: [watched.job, beside.job],
    rules: readFileSync('dist/prometheus/rules.yml', 'utf8'),
  });
  const start = Date.now();
  const moment = (seconds: number) => delay(start + seconds * 1_000 - Date.now());
  let isOver = false;
  const load = [orders, refunds].map((topic, seed) => produceOrders(topic, seed, () => isOver));
  await moment(TIMELINE.secondPodComes);
  const { groupId, schema } = first;
  const second = await startConsumer({ ...ofOrders, groupId, schema });
  watched.list(firstPod, { pod: 'orders-consumer-7c9f8d-9bmzr', port: second.port });
  await moment(TIMELINE.postgresStops);
  await postgres.stop();
  await moment(TIMELINE.postgresIsBack);
  await postgres.start();
  await moment(TIMELINE.ends);
  await until('an alert to fire', async () => (await prometheus.alerts()).find(({ state }) => state === 'firing'));
  isOver = true;
  await Promise.all(load);
  await registry.stop();
  return { prometheus, range: { start: start / 1_000, end: Date.now() / 1_000, step: SCRAPE_SECONDS } };
}
