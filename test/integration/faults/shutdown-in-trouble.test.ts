import { expect, test } from '@jest/globals';
import pg from 'pg';
import { groupMembers } from '../stack/group-membership.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const orders = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ value: `{"id":${id}}`, partition: id % 3 }));

/** A member that left without a word would be waited for until its session is over, after 40 s. */
const BEFORE_THE_SESSION_IS_OVER_MS = 30_000;

test('SIGTERM during a rebalance: out in time, exit code 0, nothing lost or doubled', async () => {
  const topic = await createTopic({ partitions: 3 });
  await produce(topic, orders(300));
  const settings = { kafka: { sessionTimeout: '40s' }, shutdown: { timeout: '8s' } };
  const first = await startConsumer({ topics: [topic], settings });
  const { schema, groupId } = first;
  await first.waitForHealth();
  const asleep = await startConsumer({ topics: [topic], schema, groupId, settings });
  await asleep.waitForHealth();
  // The group cannot be rebalanced while one of its members does not answer: it stays in the middle of it.
  asleep.kill('SIGSTOP');
  const heard = first.logs.all.length;
  const third = await startConsumer({ topics: [topic], schema, groupId, settings });
  await until('the rebalance', async () =>
    first.logs.all.slice(heard).find((line) => line.includes('joining the group')),
  );
  await produce(topic, orders(300));
  first.kill('SIGTERM');
  const began = Date.now();
  expect(await first.exited).toMatchObject({ code: 0 });
  expect(Date.now() - began).toBeLessThan(10_000);
  asleep.kill('SIGCONT');
  await awaitEachOnce({ schema, topic, records: 600, timeout: BEFORE_THE_SESSION_IS_OVER_MS });
  const without = async () => ((await groupMembers(groupId)).length === 2 ? true : undefined);
  await until('the group without the first', without, BEFORE_THE_SESSION_IS_OVER_MS);
  expect(third.logs.all.filter((line) => line.includes('"fatal"'))).toEqual([]);
});

test('a second signal ends at once with exit code 1, and what was not written is still there', async () => {
  const topic = await createTopic();
  const settings = { kafka: { sessionTimeout: '6s' } };
  const first = await startConsumer({ topics: [topic], settings });
  const { schema, groupId } = first;
  await first.waitForHealth();
  const client = new pg.Client({ connectionString: sharedDatabaseUrl() });
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${schema}.records IN ACCESS EXCLUSIVE MODE`);
  await produce(topic, [{ value: '1' }, { value: '2' }]);
  await until('a transaction that waits for the lock', async () => {
    const { rows } = await client.query('SELECT 1 FROM pg_locks WHERE NOT granted AND relation = $1::regclass', [
      `${schema}.records`,
    ]);
    return rows[0];
  });
  first.kill('SIGTERM');
  await first.logs.waitFor(/"draining"/);
  const began = Date.now();
  first.kill('SIGTERM');
  expect(await first.exited).toMatchObject({ code: 1 });
  expect(Date.now() - began).toBeLessThan(10_000);
  await client.end();
  await startConsumer({ topics: [topic], schema, groupId, settings });
  await awaitEachOnce({ schema, topic, records: 2 });
});
