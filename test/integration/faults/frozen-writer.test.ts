import { expect, test } from '@jest/globals';
import pg from 'pg';
import { METRICS } from '../../../contract/metrics.ts';
import { startCommitProxy } from '../stack/commit-proxy.ts';
import { query } from '../stack/database.ts';
import { groupMembers } from '../stack/group-membership.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const KAFKA = { sessionTimeout: '6s' } as const;

const orders = (partition: number) => Array.from({ length: 10 }, (_, id) => ({ partition, value: `{"id":${id}}` }));

/** How often the consumer was turned away by PostgreSQL: as a second writer, or while a partition changed owners. */
const turnedAway = async (consumer: StartedConsumer): Promise<number> => {
  const scrape = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
  const fenced = new RegExp(`^${METRICS.transactions.name}\\{[^}]*outcome="fenced"[^}]*\\} (\\S+)$`, 'm');
  const handovers = new RegExp(`^${METRICS.handovers.name}(?:\\{[^}]*\\})? (\\S+)$`, 'm');
  return [fenced, handovers].reduce((sum, sample) => sum + Number(sample.exec(scrape)?.[1] ?? 0), 0);
};

test('a consumer that is frozen in the middle of two transactions, overtaken and thawed doubles nothing', async () => {
  const proxy = await startCommitProxy();
  const topic = await createTopic({ partitions: 2 });
  // Longer than it is frozen: neither side may give the connection up.
  const patient = { kafka: KAFKA, database: { statementTimeout: '60s' } };
  const frozen = await startConsumer({ topics: [topic], databaseUrl: proxy.url, settings: patient });
  const { schema, groupId } = frozen;
  await produce(topic, [...orders(0), ...orders(1)]);
  await awaitEachOnce({ schema, topic, records: 20 });

  const inTheMiddle = proxy.holdNext('rows');
  await produce(topic, orders(1));
  const copy = await inTheMiddle;
  const atTheBeginning = proxy.holdNext('UPDATE');
  await produce(topic, orders(0));
  const update = await atTheBeginning;
  frozen.kill('SIGSTOP');
  const impatient = { kafka: KAFKA, database: { statementTimeout: '2s' } };
  const other = await startConsumer({ topics: [topic], schema, groupId, settings: impatient });
  await awaitEachOnce({ schema, topic, records: 30 });
  // The frozen transaction has the offset of partition 1 locked; no other writer overtook it there, so it may still commit.
  await other.logs.waitFor(/SQLSTATE 55P03.*the write failed/);

  update();
  copy();
  frozen.kill('SIGCONT');
  await until('the stale writer to be turned away', async () => ((await turnedAway(frozen)) > 0 ? true : undefined));
  await awaitEachOnce({ schema, topic, records: 40 });
  await until('both in the group', async () => ((await groupMembers(groupId)).length === 2 ? true : undefined));
  await produce(topic, [...orders(0), ...orders(1)]);
  await awaitEachOnce({ schema, topic, records: 60 });
  const offsets = await query(`SELECT partition, next_offset::int AS next FROM ${schema}.offsets ORDER BY partition`);
  expect(offsets).toEqual([
    { partition: 0, next: 30 },
    { partition: 1, next: 30 },
  ]);
  for (const consumer of [frozen, other]) {
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
  }
});

/** A session of an administrator, ended with the test. */
async function withAdministrator<T>(work: (administrator: pg.Client) => Promise<T>): Promise<T> {
  const administrator = new pg.Client({ connectionString: sharedDatabaseUrl() });
  await administrator.connect();
  try {
    return await work(administrator);
  } finally {
    await administrator.end();
  }
}

longTest(
  'a consumer that stays frozen in the middle of a COPY is ended by the next owner before its time-out, an administrator in the same lock is not',
  async () => {
    const proxy = await startCommitProxy();
    const topic = await createTopic({ partitions: 2 });
    const patient = { kafka: KAFKA, database: { statementTimeout: '60s' } };
    const frozen = await startConsumer({ topics: [topic], databaseUrl: proxy.url, settings: patient });
    const { schema, groupId } = frozen;
    await produce(topic, [...orders(0), ...orders(1)]);
    await awaitEachOnce({ schema, topic, records: 20 });

    const inTheMiddle = proxy.holdNext('rows');
    await produce(topic, orders(1));
    const copy = await inTheMiddle;
    frozen.kill('SIGSTOP');
    await withAdministrator(async (administrator) => {
      // Before the next owner in the queue for the row, which it leaves as soon as it has had it.
      const locked = administrator.query(`BEGIN; SELECT FROM ${schema}.offsets WHERE partition = 1 FOR UPDATE; COMMIT`);
      const other = await startConsumer({ topics: [topic], schema, groupId, settings: { kafka: KAFKA } });
      await other.logs.waitFor(/SQLSTATE 55P03.*the write failed/);
      // The statement's own time-out is 60 s.
      await awaitEachOnce({ schema, topic, records: 30, timeout: 40_000 });
      await locked;
      await other.logs.waitFor(/ended the session of a frozen writer/);

      copy();
      frozen.kill('SIGCONT');
      await until('both in the group', async () => ((await groupMembers(groupId)).length === 2 ? true : undefined));
      await produce(topic, [...orders(0), ...orders(1)]);
      await awaitEachOnce({ schema, topic, records: 50 });
      for (const consumer of [frozen, other]) {
        consumer.kill('SIGTERM');
        expect(await consumer.exited).toMatchObject({ code: 0 });
      }
      expect((await administrator.query('SELECT 1 AS alive')).rows).toEqual([{ alive: 1 }]);
    });
    const offsets = await query(`SELECT partition, next_offset::int AS next FROM ${schema}.offsets ORDER BY partition`);
    expect(offsets).toEqual([
      { partition: 0, next: 20 },
      { partition: 1, next: 30 },
    ]);
  },
);
