import { beforeAll, describe, expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

let consumer: StartedConsumer;
let topic: string;
let firstScrape: string;

beforeAll(async () => {
  topic = await createTopic({ partitions: 3 });
  await produce(
    topic,
    [0, 1, 1, 2, 2, 2].map((partition) => ({ partition, value: '{}' })),
  );
  consumer = await startConsumer({
    topics: [topic],
    settings: { management: { metrics: { tags: { application: 'orders' } } } },
  });
  await consumer.waitForHealth();
  firstScrape = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
});

const json = async (path: string) => (await consumer.get(path)).json() as Promise<Record<string, unknown>>;

const series = (scrape: string, name: string) => scrape.split('\n').filter((line) => line.startsWith(`${name}{`));

describe('from the first health UP on', () => {
  test('the lag of each owned partition is there', () => {
    expect(series(firstScrape, METRICS.recordsLag.name)).toHaveLength(3);
  });

  test.each([
    METRICS.recordsConsumed.name,
    METRICS.memoryUsed.name,
    `${METRICS.gcPause.name}_count`,
    METRICS.poolActive.name,
    METRICS.healthFailures.name,
    METRICS.health.name,
    METRICS.topicPartitions.name,
    METRICS.eventLoopLagMax.name,
    METRICS.databaseConnectionFailures.name,
    METRICS.residentMemory.name,
  ])('%s has a value', (name) => {
    const found = series(firstScrape, name);
    expect(found).not.toEqual([]);
    for (const line of found) expect(line).toMatch(/ -?[0-9.e+]+$/);
  });

  test('every series says which application it is of', () => {
    const samples = firstScrape.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const sample of samples) expect(sample).toContain('application="orders"');
  });
});

test('consumed records are counted by partition once their transaction committed, and the lag goes to 0', async () => {
  await awaitEachOnce({ schema: consumer.schema, topic, records: 6 });
  const scrape = await until('lag 0', async () => {
    const text = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
    return series(text, METRICS.recordsLag.name).every((line) => line.endsWith(' 0')) ? text : undefined;
  });
  for (const [partition, count] of [1, 2, 3].entries()) {
    expect(scrape).toMatch(
      new RegExp(`^${METRICS.recordsConsumed.name}\\{.*partition="${partition}".*\\} ${count}$`, 'm'),
    );
  }
});

test('the index links to every endpoint, and each link that is no template answers 200', async () => {
  const { _links } = (await json(consumer.endpoint.basePath)) as {
    _links: Record<string, { href: string; templated: boolean }>;
  };
  expect(Object.keys(_links)).toEqual(expect.arrayContaining(['self', 'health', 'info', 'metrics', 'prometheus']));
  for (const { href, templated } of Object.values(_links)) {
    if (!templated) expect((await fetch(href)).status).toBe(200);
  }
});

test('health shows every component, and each answers at its own path', async () => {
  const { components } = (await json(consumer.endpoint.healthPath)) as { components: Record<string, unknown> };
  const names = ['consumer', 'db', 'diskSpace', 'kafka', 'livenessState', 'ping', 'readinessState'];
  expect(Object.keys(components)).toEqual(names);
  for (const name of names) {
    expect(await json(`${consumer.endpoint.healthPath}/${name}`)).toMatchObject({ status: 'UP' });
  }
});

test.each(['liveness', 'readiness'])('the group %s is UP', async (group) => {
  expect(await json(`${consumer.endpoint.healthPath}/${group}`)).toEqual({ status: 'UP' });
});

test('the component consumer tells the group, what it owns and how far behind it is', async () => {
  const { details } = await json(`${consumer.endpoint.healthPath}/consumer`);
  expect(details).toMatchObject({
    state: 'running',
    groupId: consumer.groupId,
    assignedPartitions: { [topic]: [0, 1, 2] },
  });
});

test('every metric of the scrape can be asked by its name', async () => {
  const { names } = (await json(consumer.endpoint.metricsPath)) as { names: string[] };
  for (const { name } of [METRICS.recordsConsumed, METRICS.recordsLag, METRICS.memoryUsed, METRICS.poolActive]) {
    expect(names).toContain(name);
    expect((await consumer.get(`${consumer.endpoint.metricsPath}/${name}`)).status).toBe(200);
  }
  expect(await json(`${consumer.endpoint.metricsPath}/jvm.memory.used?tag=area:heap`)).toMatchObject({
    baseUnit: 'bytes',
  });
});
