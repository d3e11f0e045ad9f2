import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { query, withDatabase } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka, startPrivatePostgres } from '../stack/private-servers.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly reason?: string;
  readonly failures?: number;
  readonly broker?: string;
  readonly tables?: readonly string[];
  readonly holders?: readonly object[];
}

const lines = (consumer: StartedConsumer, text: string): Line[] =>
  consumer.logs.all.filter((line) => line.includes(text)).map((line) => JSON.parse(line) as Line);

const awaitLine = (consumer: StartedConsumer, text: string) =>
  until(`a line with "${text}"`, async () => lines(consumer, text)[0]);

/** Waits until some more attempts have failed. */
async function awaitMoreFailures(consumer: StartedConsumer): Promise<void> {
  const [before = 0] = await values(consumer, METRICS.databaseConnectionFailures);
  await until('more failures', async () => {
    const [failures = 0] = await values(consumer, METRICS.databaseConnectionFailures);
    return failures >= before + 4 ? true : undefined;
  });
}

test('an idle consumer tells of a PostgreSQL that was stopped, with the reason, once, and when it is back', async () => {
  const postgres = await startPrivatePostgres();
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword });
  await consumer.waitForHealth();
  await postgres.stop();
  const line = await awaitLine(consumer, 'PostgreSQL is away');
  expect(line).toMatchObject({ level: 'warn', failures: 1 });
  await awaitLine(consumer, 'ECONNREFUSED');
  await awaitMoreFailures(consumer);
  expect(lines(consumer, 'ECONNREFUSED')).toHaveLength(1);
  await postgres.start();
  const back = await awaitLine(consumer, 'PostgreSQL is back');
  expect(back).toMatchObject({
    level: 'info',
    msg: expect.stringMatching(/^PostgreSQL is back after \d+ s, \d+ failures$/),
  });
  expect(back.failures).toBeGreaterThan(3);
});

longTest('a consumer with records to write tells of the same outage with the same lines', async () => {
  const postgres = await startPrivatePostgres();
  const topic = await createTopic({ partitions: 4 });
  const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword });
  await consumer.waitForHealth();
  await postgres.stop('immediate');
  await produce(
    topic,
    [0, 1, 2, 3].map((partition) => ({ partition, value: '{}' })),
  );
  await awaitLine(consumer, 'PostgreSQL is away');
  await awaitLine(consumer, 'ECONNREFUSED');
  await awaitMoreFailures(consumer);
  expect(lines(consumer, '"level":"warn"').filter(({ msg }) => !msg.startsWith('PostgreSQL is away'))).toEqual([]);
  expect(lines(consumer, 'PostgreSQL is away').filter(({ reason }) => reason?.includes('ECONNREFUSED'))).toHaveLength(
    1,
  );
  await postgres.start();
  await awaitLine(consumer, 'PostgreSQL is back');
  await awaitEachOnce({ schema: consumer.schema, topic, records: 4, url: postgres.urlWithPassword });
});

/** A consumer that has read all of a Kafka of its own. */
async function caughtUp(settings: Readonly<Record<string, object>> = {}) {
  const kafka = await startPrivateKafka();
  const { broker } = kafka;
  const topic = await createTopic({ broker });
  await produce(topic, [{ value: '1' }], { broker });
  const consumer = await startConsumer({ topics: [topic], brokers: [broker], settings });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
  await until('Kafka to be UP', async () =>
    (await consumer.get(`${consumer.endpoint.healthPath}/kafka`)).status === 200 ? true : undefined,
  );
  return { kafka, consumer };
}

/** The errors that are counted with a reason. */
async function errors(consumer: StartedConsumer, reason: string): Promise<number> {
  const scrape = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
  return Number(new RegExp(`^consumer_errors_total\\{[^}]*reason="${reason}"[^}]*\\} (\\S+)$`, 'm').exec(scrape)?.[1]);
}

test('a Kafka that was stopped is told once, each broker once for each reason, and counts as away; one line when it is back', async () => {
  const { kafka, consumer } = await caughtUp();
  const { length } = consumer.logs.all;
  await kafka.stop();
  expect(await awaitLine(consumer, 'Kafka is away')).toMatchObject({ level: 'warn', failures: 1 });
  await until('Kafka to be counted as away', async () =>
    (await errors(consumer, 'kafka_away')) > 8 ? true : undefined,
  );
  expect(lines(consumer, 'Kafka is away').filter(({ reason }) => reason?.includes('ECONNREFUSED'))).toHaveLength(1);
  const refused = lines(consumer, '"msg":"kafkajs: ').filter(({ msg }) => msg.includes('ECONNREFUSED'));
  expect(refused).toMatchObject([{ level: 'warn', broker: kafka.broker, count: 1 }]);
  expect(consumer.logs.all.length - length).toBeLessThan(20);
  expect(await errors(consumer, 'kafka_client')).toBe(0);
  await kafka.start();
  expect(await awaitLine(consumer, 'Kafka is back')).toMatchObject({ level: 'info' });
  expect(lines(consumer, 'Kafka is back')).toHaveLength(1);
});

longTest('a frozen Kafka is told, counts as away, and is told when it is back', async () => {
  // A third of it is what the coordinator has for a new connection: the silence of the open ones is noticed before.
  const { kafka, consumer } = await caughtUp({ kafka: { sessionTimeout: '30s' } });
  process.kill(kafka.pid, 'SIGSTOP');
  expect(await awaitLine(consumer, 'Kafka is away')).toMatchObject({
    level: 'warn',
    reason: `no answer within 3000 ms: ${kafka.broker} spoke Kafka's protocol before`,
  });
  expect(await errors(consumer, 'kafka_away')).toBeGreaterThan(0);
  process.kill(kafka.pid, 'SIGCONT');
  await awaitLine(consumer, 'Kafka is back');
});

/** A migration locks tables, until each partition has failed at least twice. */
async function lockFor(consumer: StartedConsumer, tables: string, produceAll: () => Promise<unknown>): Promise<number> {
  return withDatabase(async ({ client }) => {
    await client.query("SET application_name = 'a migration'; BEGIN");
    await client.query(`LOCK TABLE ${tables} IN SHARE ROW EXCLUSIVE MODE`);
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await produceAll();
    await awaitLine(consumer, 'a lock keeps rows out');
    await until('more failures', async () => ((await errors(consumer, 'database_busy')) >= 8 ? true : undefined));
    await client.query('ROLLBACK');
    return rows[0]?.pid ?? 0;
  });
}

async function logsLockOnce(names: readonly string[]): Promise<void> {
  const topic = await createTopic({ partitions: 4 });
  const schema = randomName('schema');
  const locked = names.map((name) => `${schema}.${name}`);
  await query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id int)`);
  const tables = [{ topic, table: `${schema}.orders` }];
  const settings = { database: { statementTimeout: '1s' }, tables };
  const consumer = await startConsumer({ topics: [topic], schema, settings });
  await consumer.waitForHealth();
  // What a start waits for, such as a coordinator that still loads its groups, is logged as a warning, too.
  const ofStart = lines(consumer, '"level":"warn"').length;
  const records = [0, 1, 2, 3].map((partition) => ({ partition, value: '{"id":1}' }));
  const pid = await lockFor(consumer, locked.join(), () => produce(topic, records));
  const over = await awaitLine(consumer, 'the lock is gone');
  expect(over).toMatchObject({ level: 'info', tables: locked });
  const since: unknown = expect.stringMatching(/^\d{4}-.*Z$/);
  const user: unknown = expect.any(String);
  const holder = { pid, user, applicationName: 'a migration', state: 'idle in transaction', since };
  const warnings = lines(consumer, '"level":"warn"')
    .slice(ofStart)
    .filter(({ msg }) => !msg.startsWith('kafkajs: '));
  expect(warnings).toMatchObject([{ tables: locked, holders: [holder] }]);
  expect(warnings).toHaveLength(1);
  expect(lines(consumer, 'the lock is gone')).toHaveLength(1);
  await awaitEachOnce({ schema, topic, records: 4 });
}

const LOGGED = 'is logged once, with its holder, and once when it is over';

test(`a lock on records, orders ${LOGGED}`, () => logsLockOnce(['orders', 'records']));

longTest(`a lock on offsets ${LOGGED}`, () => logsLockOnce(['offsets']));
