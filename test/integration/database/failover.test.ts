import { expect, test } from '@jest/globals';
import { type LocalPostgres, startLocalPostgres } from '../../../dev/stack/local-postgres.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand } from '../stack/run-command.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { testRun } from '../stack/test-run.ts';
import { until } from '../stack/until.ts';

/** A primary with a standby that streams from it, made of a copy of the data; and the URL with both. */
async function primaryAndStandby() {
  const primary = await startPrivatePostgres();
  const { port } = new URL(primary.url);
  await primary.stop();
  const standby = await startLocalPostgres(await testRun(), {
    copyOf: primary,
    files: {
      'standby.signal': '',
      'postgresql.auto.conf': `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=${primary.password}'\n`,
    },
  });
  await primary.start();
  const hosts = [primary, standby].map(({ url }) => new URL(url).host).join();
  return { primary, standby, url: `postgresql://postgres:${primary.password}@${hosts}/postgres` };
}

const at = (server: LocalPostgres) => server.urlWithPassword;

/** Waits until the standby has replayed all that the primary has written. */
async function awaitReplayed(primary: LocalPostgres, standby: LocalPostgres): Promise<void> {
  const [written] = await query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn', [], at(primary));
  await until('the standby to have caught up', async () => {
    const sql = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS reached';
    const [row] = await query<{ reached: boolean }>(sql, [written?.lsn], at(standby));
    return row?.reached ? true : undefined;
  });
}

/** Lets the standby fall behind from now on. */
async function cutOff(standby: LocalPostgres): Promise<void> {
  await query("ALTER SYSTEM SET primary_conninfo = ''", [], at(standby));
  await query('SELECT pg_reload_conf()', [], at(standby));
  await until('the standby to receive nothing more', async () => {
    const receivers = await query('SELECT 1 FROM pg_stat_wal_receiver', [], at(standby));
    return receivers.length === 0 ? true : undefined;
  });
}

async function failOver(primary: LocalPostgres, standby: LocalPostgres): Promise<void> {
  await primary.stop('immediate');
  await query('SELECT pg_promote()', [], at(standby));
}

/** Without records the consumer looks at the stored offsets every half minute. */
const LATER = [
  ['with records that come later', 50, test],
  ['without any', 0, longTest],
] as const;

const values = (count: number) => Array.from({ length: count }, (_, id) => ({ value: `{"id":${id}}` }));

test('a failover needs no new configuration: the consumer, its health check and commands find the promoted standby', async () => {
  const { primary, standby, url } = await primaryAndStandby();
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic], databaseUrl: url });
  const { schema } = consumer;
  await consumer.waitForHealth();
  await produce(topic, values(50));
  await awaitEachOnce({ schema, topic, records: 50, url: at(primary) });
  await awaitReplayed(primary, standby);
  await failOver(primary, standby);
  await produce(topic, values(50));
  await awaitEachOnce({ schema, topic, records: 100, url: at(standby) });
  await consumer.waitForHealth();
  const { code, stdout } = await runCommand(['migrate'], { env: databaseEnvironment(url, schema) });
  expect({ code, stdout }).toEqual({ code: 0, stdout: `the schema "${schema}" is up to date\n` });
});

for (const [name, later, register] of LATER) {
  register(
    `a standby that lacked the last commits gets their records from Kafka, each once, ${name}`,
    async () => {
      const { primary, standby, url } = await primaryAndStandby();
      const topic = await createTopic();
      const consumer = await startConsumer({ topics: [topic], databaseUrl: url });
      const { schema } = consumer;
      await produce(topic, values(50));
      await awaitEachOnce({ schema, topic, records: 50, url: at(primary) });
      await awaitReplayed(primary, standby);
      await cutOff(standby);
      await produce(topic, values(50));
      await awaitEachOnce({ schema, topic, records: 100, url: at(primary) });
      await awaitEachOnce({ schema, topic, records: 50, url: at(standby) });
      await failOver(primary, standby);
      await produce(topic, values(later));
      await awaitEachOnce({ schema, topic, records: 100 + later, url: at(standby) });
      expect(consumer.logs.all.join('\n')).not.toContain('"level":"fatal"');
    },
    120_000,
  );
}

for (const [name, later] of LATER) {
  const advised = 'stops the consumer, and by its advice nothing is lost or doubled';
  longTest(
    `a partition of which the standby knows nothing ${advised}, ${name}`,
    async () => {
      const { primary, standby, url } = await primaryAndStandby();
      const topic = await createTopic();
      const schema = randomName('schema');
      await runCommand(['migrate'], { env: databaseEnvironment(url, schema) });
      await awaitReplayed(primary, standby);
      await cutOff(standby);
      const consumer = await startConsumer({ topics: [topic], databaseUrl: url, schema });
      await produce(topic, values(50));
      await awaitEachOnce({ schema, topic, records: 50, url: at(primary) });
      await failOver(primary, standby);
      await produce(topic, values(later));
      expect(await consumer.exited).toMatchObject({ code: 1 });
      const fatal = await consumer.logs.waitFor(/"STORED_OFFSET_MISSING"/);
      expect(fatal).toContain('promoted standby');
      expect(fatal).toContain('start again with consumer.startFrom: earliest');
      const { groupId } = consumer;
      const settings = { consumer: { startFrom: 'earliest' } };
      await startConsumer({ topics: [topic], databaseUrl: url, schema, groupId, settings });
      await awaitEachOnce({ schema, topic, records: 50 + later, url: at(standby) });
    },
    120_000,
  );
}

test('a server that takes no writes any more is left for the one that does, though its sessions live on', async () => {
  const { primary, standby, url } = await primaryAndStandby();
  const topic = await createTopic();
  const consumer = await startConsumer({ topics: [topic], databaseUrl: url });
  const { schema } = consumer;
  await produce(topic, values(50));
  await awaitEachOnce({ schema, topic, records: 50, url: at(primary) });
  await awaitReplayed(primary, standby);
  await query('ALTER SYSTEM SET default_transaction_read_only = on', [], at(primary));
  await query('SELECT pg_reload_conf()', [], at(primary));
  await until('the primary to take no writes', async () => {
    const [setting] = await query<Record<string, string>>('SHOW default_transaction_read_only', [], at(primary));
    return setting?.['default_transaction_read_only'] === 'on' ? true : undefined;
  });
  await query('SELECT pg_promote()', [], at(standby));
  await produce(topic, values(50));
  await awaitEachOnce({ schema, topic, records: 100, url: at(standby) });
  await consumer.waitForHealth();
});
