import { beforeAll, describe, expect, test } from '@jest/globals';
import type { LocalKafka } from '../../../dev/stack/local-kafka.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka, startPrivatePostgres } from '../stack/private-servers.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

/** What the specification gives an outage to show in, and its end. */
const WITHIN_MS = 10_000;

interface Answer {
  readonly code: number;
  readonly body: { status: string; components?: Record<string, { status: string }> };
}

async function health(consumer: StartedConsumer, path = consumer.endpoint.healthPath): Promise<Answer> {
  const answer = await consumer.get(path);
  return { code: answer.status, body: (await answer.json()) as Answer['body'] };
}

const awaitHealth = (consumer: StartedConsumer, path: string, code: number, timeout = WITHIN_MS) =>
  until(
    `${path} to answer ${code}`,
    async () => {
      const answer = await health(consumer, path);
      return answer.code === code ? answer : undefined;
    },
    timeout,
  );

const metric = async (consumer: StartedConsumer, name: string) => {
  const scrape = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'm').exec(scrape)?.[1]);
};

for (const [mode, register] of [
  ['fast', longTest],
  ['immediate', test],
] as const) {
  register(`PostgreSQL stopped (${mode}) shows within 10 s; started again all recovers without a restart`, async () => {
    const postgres = await startPrivatePostgres();
    const topic = await createTopic({ partitions: 2 });
    await produce(
      topic,
      Array.from({ length: 100 }, (_, id) => ({ value: `{"id":${id}}` })),
    );
    const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword });
    const { healthPath, livenessPath } = consumer.endpoint;
    await consumer.waitForHealth();
    const counted = { schema: consumer.schema, topic, url: postgres.urlWithPassword };
    await awaitEachOnce({ ...counted, records: 100 });
    expect(await metric(consumer, 'db_connection_failures_total')).toBe(0);

    await postgres.stop(mode);
    const down = await awaitHealth(consumer, healthPath, 503);
    expect(down.body.status).toBe('DOWN');
    expect(down.body.components?.['db']?.status).toBe('DOWN');
    expect((await health(consumer, livenessPath)).code).toBe(200);
    expect(await metric(consumer, 'db_connection_failures_total')).toBeGreaterThan(0);
    await produce(
      topic,
      Array.from({ length: 100 }, (_, id) => ({ value: `{"id":${id}}` })),
    );

    await postgres.start();
    await awaitHealth(consumer, healthPath, 200);
    await awaitEachOnce({ ...counted, records: 200 });
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
  });
}

test('PostgreSQL that comes later than the consumer is waited for', async () => {
  const postgres = await startPrivatePostgres();
  await postgres.stop();
  const topic = await createTopic();
  await produce(topic, [{ value: '1' }]);
  const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword });
  await consumer.waitForHealth(503);
  await postgres.start();
  await consumer.waitForHealth();
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1, url: postgres.urlWithPassword });
});

describe('Kafka', () => {
  let kafka: LocalKafka;
  let topic = '';
  let unread = '';
  beforeAll(async () => {
    kafka = await startPrivateKafka();
    topic = await createTopic(kafka);
    unread = await createTopic(kafka);
  });

  test('stopped shows in its component and in readiness, not in the root; started again records flow', async () => {
    const { broker } = kafka;
    await produce(topic, [{ value: '1' }], { broker });
    const consumer = await startConsumer({
      topics: [topic],
      brokers: [broker],
      settings: { kafka: { sessionTimeout: '6s' } },
    });
    const { healthPath, readinessPath } = consumer.endpoint;
    await consumer.waitForHealth();
    await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });

    await kafka.stop();
    await awaitHealth(consumer, `${healthPath}/kafka`, 503);
    await awaitHealth(consumer, readinessPath, 503);
    const root = await health(consumer);
    expect(root).toMatchObject({ code: 200, body: { status: 'UP', components: { kafka: { status: 'DOWN' } } } });

    await kafka.start();
    await awaitHealth(consumer, readinessPath, 200, 30_000);
    await produce(topic, [{ value: '2' }], { broker });
    await awaitEachOnce({ schema: consumer.schema, topic, records: 2, timeout: 60_000 });
  });

  test('stopped counts in the root with management.health.kafka.in-root', async () => {
    await kafka.start();
    const settings = { management: { health: { kafka: { 'in-root': true } } } };
    const consumer = await startConsumer({ topics: [topic], brokers: [kafka.broker], settings });
    await consumer.waitForHealth();
    await kafka.stop();
    const root = await awaitHealth(consumer, consumer.endpoint.healthPath, 503);
    expect(root.body.status).toBe('DOWN');
  });

  test('that comes later than the consumer is waited for, and the root stays UP meanwhile', async () => {
    const { broker } = kafka;
    await kafka.stop();
    const consumer = await startConsumer({ topics: [unread], brokers: [broker] });
    await consumer.waitForHealth();
    await kafka.start();
    await produce(unread, [{ value: '1' }], { broker });
    await awaitEachOnce({ schema: consumer.schema, topic: unread, records: 1, timeout: 60_000 });
  });
});
