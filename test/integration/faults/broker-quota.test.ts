import { expect, test } from '@jest/globals';
import { systemClock } from '../../../app/stream/ports/clock.ts';
import { limitFetches } from '../../../dev/stack/client-quota.ts';
import { query } from '../stack/database.ts';
import { membership, TELLS_JOINS } from '../stack/group-membership.ts';
import { type AtBroker, createTopic, produce } from '../stack/kafka-client.ts';
import { type ProxiedConnection, REQUEST, startProxiedKafka } from '../stack/kafka-proxy.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedBroker } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { until } from '../stack/until.ts';

const PARTITIONS = 6;

/** Records of a produced request, of 1 kB each. */
const BATCH = 900;

/** Takes a broker that hands out 40 kB/s well above the shortest session time-out of 6 s. */
const RECORDS = 700;

interface Load extends AtBroker {
  /** What the topic holds, in records of 1 kB. */
  readonly records: number;
  /** What the consumer may fetch in a second. */
  readonly kilobytes: number;
  /** @default 10s */
  readonly sessionTimeout?: '6s';
}

/** A consumer in its group that may read a topic only so fast. */
async function startLimited({ records, kilobytes, sessionTimeout, broker = sharedBroker() }: Load) {
  const clientId = randomName('client');
  await limitFetches(broker, clientId, 1_000 * kilobytes);
  const topic = await createTopic({ partitions: PARTITIONS, broker });
  const value = JSON.stringify('x'.repeat(1_000));
  const batch = Array.from({ length: BATCH }, (_, index) => ({ partition: index % PARTITIONS, value }));
  for (let produced = 0; produced < records; produced += BATCH) {
    await produce(topic, batch.slice(0, records - produced), { broker });
  }
  const settings = { kafka: { clientId, ...(sessionTimeout && { sessionTimeout }) }, ...TELLS_JOINS };
  const consumer = await startConsumer({ topics: [topic], brokers: [broker], settings });
  await consumer.waitForHealth();
  const joined = await membership(consumer, { broker });
  expect(joined).toMatchObject({ joins: 1, members: [expect.any(String)] });
  return { consumer, topic, joined };
}

test('a fetch that is held back for longer than the session time-out does not cost the membership', async () => {
  const began = performance.now();
  const { consumer, topic, joined } = await startLimited({ records: RECORDS, kilobytes: 40, sessionTimeout: '6s' });
  await awaitEachOnce({ schema: consumer.schema, topic, records: RECORDS });
  expect(performance.now() - began).toBeGreaterThan(10_000);
  expect(await membership(consumer)).toEqual(joined);
});

longTest('300 kB/s for 90 s: one generation, with the default session time-out of 10 s', async () => {
  // More than can be read.
  const { consumer, joined } = await startLimited({ records: 30_000, kilobytes: 300 });
  await systemClock.wait(90_000);
  expect(await membership(consumer)).toEqual(joined);
  const [rows] = await query(
    `SELECT sum(count)::int > 5000 AS are_many, bool_and(count = next) AS are_complete
     FROM (SELECT count(*), max("offset") + 1 AS next FROM ${consumer.schema}.records GROUP BY partition) AS by_partition`,
  );
  expect(rows).toEqual({ are_many: true, are_complete: true });
});

/** And what a connection begins with. */
const OF_THE_GROUP = new Set<number>([
  REQUEST.apiVersions,
  REQUEST.offsetCommit,
  REQUEST.offsetFetch,
  REQUEST.joinGroup,
  REQUEST.heartbeat,
  REQUEST.leaveGroup,
  REQUEST.syncGroup,
]);

test('nor does the connection to the coordinator that ends meanwhile, which carries nothing but the group', async () => {
  const { broker, connections, letThrough } = await startProxiedKafka();
  const load = { records: RECORDS, kilobytes: 40, sessionTimeout: '6s', broker } as const;
  const { consumer, topic, joined } = await startLimited(load);
  const ended: ProxiedConnection[] = [];
  let isHeldBack = false;
  letThrough(({ kind, connection }) => {
    // Of two heartbeats without a fetch between them the second one is sent while the fetch is held back.
    const isEnded = kind === REQUEST.heartbeat && isHeldBack && ended.length === 0;
    isHeldBack = kind === REQUEST.heartbeat || (isHeldBack && kind !== REQUEST.fetch);
    if (isEnded) {
      ended.push(connection);
      connection.end();
    }
    return !isEnded;
  });
  await awaitEachOnce({ schema: consumer.schema, topic, records: RECORDS });
  expect(await membership(consumer, { broker })).toEqual(joined);
  const kinds = ended.flatMap((connection) => [...connection.kinds]);
  expect(kinds).toContain(REQUEST.heartbeat);
  expect(kinds.filter((kind) => !OF_THE_GROUP.has(kind))).toEqual([]);
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  await until('the connections of the group to be closed', async () =>
    [...connections].some(({ kinds: open }) => open.has(REQUEST.heartbeat)) ? undefined : true,
  );
});
