import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

/** What the specification gives an outage to show in, and its end. */
const WITHIN_MS = 10_000;

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly reason?: string;
  readonly failures?: number;
  readonly broker?: string;
}

const lines = (consumer: StartedConsumer, text: string): Line[] =>
  consumer.logs.all.filter((line) => line.includes(text)).map((line) => JSON.parse(line) as Line);

const awaitLine = (consumer: StartedConsumer, text: string, timeout = WITHIN_MS) =>
  until(`a line with "${text}"`, async () => lines(consumer, text)[0], timeout);

/** Waits until some more attempts have failed. */
async function awaitMoreFailures(consumer: StartedConsumer): Promise<void> {
  const [before = 0] = await values(consumer, METRICS.databaseConnectionFailures);
  await until('more failures', async () => {
    const [failures = 0] = await values(consumer, METRICS.databaseConnectionFailures);
    return failures >= before + 4 ? true : undefined;
  });
}

test('an idle consumer tells of a PostgreSQL that was stopped within 10 s, with the reason, once, and when it is back', async () => {
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

test('a consumer with records to write tells of the same outage with the same lines', async () => {
  const postgres = await startPrivatePostgres();
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic], databaseUrl: postgres.urlWithPassword });
  await consumer.waitForHealth();
  await postgres.stop('immediate');
  await produce(topic, [{ value: '{}' }]);
  await awaitLine(consumer, 'PostgreSQL is away');
  await awaitLine(consumer, 'ECONNREFUSED');
  await awaitMoreFailures(consumer);
  expect(lines(consumer, 'PostgreSQL is away').filter(({ reason }) => reason?.includes('ECONNREFUSED'))).toHaveLength(
    1,
  );
  await postgres.start();
  await awaitLine(consumer, 'PostgreSQL is back');
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1, url: postgres.urlWithPassword });
});
