import { expect, test } from '@jest/globals';
import { withDatabase } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { awaitRoot } from '../stack/told-health.ts';

/** The write is still inside the lock: nothing has failed. */
async function pausedSeconds({ get, endpoint }: StartedConsumer): Promise<number> {
  const text = await (await get(`${endpoint.prometheusPath}?includedNames=consumer_paused_seconds`)).text();
  return Number(/^consumer_paused_seconds_total\{.*\} (\S+)$/m.exec(text)?.[1]);
}

test('lag without progress for stallTimeout makes the health DOWN and names the partition; progress makes it UP', async () => {
  const topic = await createTopic({ partitions: 2 });
  const settings = { consumer: { stallTimeout: '2s' }, database: { statementTimeout: '60s' } };
  const consumer = await startConsumer({ topics: [topic], settings });
  const { healthPath, livenessPath } = consumer.endpoint;
  await consumer.waitForHealth();
  await withDatabase(async ({ client }) => {
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${consumer.schema}.records IN ACCESS EXCLUSIVE MODE`);
    await produce(topic, [{ partition: 1, value: '{}' }]);
    await awaitRoot(
      consumer,
      'a stall',
      ({ components }) => components['consumer']?.details?.['stalled'] !== undefined,
    );
    const health = (await (await consumer.get(`${healthPath}/consumer`)).json()) as Record<string, unknown>;
    expect(health).toMatchObject({
      status: 'DOWN',
      details: { stalled: [{ topic, partition: 1, nextOffset: '0', lag: 1 }] },
    });
    expect((await consumer.get(`${healthPath}/db`)).status).toBe(200);
    expect((await consumer.get(livenessPath)).status).toBe(200);
    expect(await pausedSeconds(consumer)).toBeGreaterThan(0.5);
    await consumer.logs.waitFor(/a lock keeps rows out/);
    await client.query('ROLLBACK');
  });
  await consumer.waitForHealth();
  await awaitEachOnce({ schema: consumer.schema, topic, records: 1 });
});
