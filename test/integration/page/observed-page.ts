import { setTimeout as delay } from 'node:timers/promises';
import { createTopicWithLeaders } from '../../../dev/stack/topic.ts';
import { query } from '../stack/database.ts';
import { kafkaClient } from '../stack/kafka-client.ts';
import { startPrivatePostgres } from '../stack/private-servers.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';

/** Seconds after the start of the run: the charts of the page are of ten minutes. */
const TIMELINE = { postgresStops: 330, postgresIsBack: 375, ends: 620 } as const;

const TOPICS = [
  { topic: 'orders', partitions: 6, table: 'shop.orders', perSecond: 600 },
  { topic: 'payments', partitions: 3, table: 'shop.payments', perSecond: 150 },
] as const;

const PAUSE_MS = 100;
/** Seconds from one busy time to the next. */
const WAVE = 190;
/** One record in so many has a date that is none. */
const BROKEN_EVERY = 30_000;

const orderText = (nth: number): string =>
  `{"id":${nth},"placed_at":"${nth % BROKEN_EVERY === 1 ? 'tomorrow' : '2026-11-26'}","total":${nth % 97}}`;

/** Produces in waves, until the run ends. */
async function produceInWaves({ topic, partitions, perSecond }: (typeof TOPICS)[number], isOver: () => boolean) {
  const producer = kafkaClient().producer();
  await producer.connect();
  let sent = 0;
  const start = performance.now();
  for (let wanted = 0; !isOver(); ) {
    const seconds = (performance.now() - start) / 1_000;
    wanted = Math.round(
      perSecond * (seconds - (0.35 * WAVE * Math.cos((2 * Math.PI * seconds) / WAVE)) / 6 + WAVE / 17),
    );
    const messages = Array.from({ length: Math.max(0, wanted - sent) }, (_, index) => ({
      partition: (sent + index) % partitions,
      value: orderText(sent + index),
    }));
    if (messages.length > 0) {
      await producer.send({ topic, messages });
      sent += messages.length;
    }
    await delay(PAUSE_MS);
  }
  await producer.disconnect();
}

/**
 * Ten minutes of one consumer with two tables of its own, without Prometheus: PostgreSQL is away for a while, and what
 * waited is worked off. Ends while records come.
 *
 * @param draw draws the page of the consumer
 */
export async function observePage(draw: (consumer: StartedConsumer) => Promise<void>): Promise<void> {
  const postgres = await startPrivatePostgres();
  const admin = kafkaClient().admin();
  await admin.connect();
  await query('CREATE SCHEMA shop', [], postgres.urlWithPassword);
  for (const { topic, partitions, table } of TOPICS) {
    await createTopicWithLeaders(admin, { topic, numPartitions: partitions });
    await query(`CREATE TABLE ${table} (id bigint, placed_at date, total numeric)`, [], postgres.urlWithPassword);
  }
  await admin.disconnect();
  const consumer = await startConsumer({
    topics: [],
    groupId: 'shop-consumer',
    databaseUrl: postgres.urlWithPassword,
    settings: { tables: TOPICS.map(({ topic, table }) => ({ topic, table })) as object },
  });
  await consumer.waitForHealth();
  const start = Date.now();
  const moment = (seconds: number) => delay(start + seconds * 1_000 - Date.now());
  let isOver = false;
  const load = TOPICS.map((each) => produceInWaves(each, () => isOver));
  await moment(TIMELINE.postgresStops);
  await postgres.stop();
  await moment(TIMELINE.postgresIsBack);
  await postgres.start();
  await moment(TIMELINE.ends);
  await until('UP', async () => ((await consumer.get(consumer.endpoint.healthPath)).ok ? true : undefined));
  await draw(consumer);
  isOver = true;
  await Promise.all(load);
}
