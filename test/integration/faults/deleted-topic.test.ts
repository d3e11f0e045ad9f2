import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../app/stream/ports/clock.ts';
import { LIVENESS_PROBE, READINESS_PROBE } from '../../../contract/probes.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { createNamedTopic, deleteTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

const LONGEST_PAUSE_MS = 10_000;

const PARTITIONS = 2;

/** A topic with a record in each partition. */
async function aTopic(): Promise<string> {
  const topic = await createTopic({ partitions: PARTITIONS });
  await produce(topic, toAll());
  return topic;
}

const toAll = () => Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, value: '{}' }));

/** A consumer that has read all of its topics. */
async function startedWith(topics: readonly string[], onTopicGone?: 'stop'): Promise<StartedConsumer> {
  const consumer = await startConsumer({ topics, settings: onTopicGone ? { consumer: { onTopicGone } } : {} });
  await consumer.waitForHealth();
  for (const topic of topics) await awaitEachOnce({ schema: consumer.schema, topic, records: PARTITIONS });
  return consumer;
}

async function detailsOf(consumer: StartedConsumer): Promise<Record<string, unknown>> {
  const answer = await consumer.get(`${consumer.endpoint.healthPath}/consumer`);
  return ((await answer.json()) as { details: Record<string, unknown> }).details;
}

const awaitGone = (consumer: StartedConsumer, topics: readonly string[]): Promise<unknown> =>
  until(`${topics.join()} among the topics that are gone`, async () => {
    const { goneTopics = [] } = await detailsOf(consumer);
    return String(goneTopics) === String(topics) ? true : undefined;
  });

/** Produces to all partitions, again as soon as the records are in the table, and gives the longest time that took. */
async function longestPause(consumer: StartedConsumer, topic: string, isOver: () => boolean): Promise<number> {
  let longest = 0;
  for (let rounds = 1; !isOver(); rounds += 1) {
    const began = performance.now();
    await produce(topic, toAll());
    await awaitEachOnce({ schema: consumer.schema, topic, records: PARTITIONS * (rounds + 1) });
    longest = Math.max(longest, performance.now() - began);
  }
  return longest;
}

async function topicMetrics(consumer: StartedConsumer): Promise<readonly string[]> {
  const text = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
  return text.split('\n').filter((line) => /^(consumer_topic_gone|kafka_consumer_records_lag)\{/.test(line));
}

const lineOf = (name: string, topic: string, value: number) =>
  expect.stringMatching(new RegExp(`^${name}\\{.*topic="${topic}".*\\} ${value}$`));

describe('of two topics one is deleted', () => {
  test('the other goes on, and the health stays UP and names the one that is gone', async () => {
    const [kept, deleted] = [await aTopic(), await aTopic()];
    const consumer = await startedWith([kept, deleted]);
    let isNamed = false;
    const pause = longestPause(consumer, kept, () => isNamed);
    await deleteTopic(deleted);
    await awaitGone(consumer, [deleted]);
    isNamed = true;
    expect(await pause).toBeLessThan(LONGEST_PAUSE_MS);
    const health = await consumer.get(consumer.endpoint.healthPath);
    expect([health.status, health.ok ? '' : await health.text()]).toEqual([200, '']);
    expect((await consumer.get(consumer.endpoint.livenessPath)).status).toBe(200);
    expect(await detailsOf(consumer)).toMatchObject({ state: 'running', assignedPartitions: { [kept]: [0, 1] } });
    const lines = await topicMetrics(consumer);
    expect(lines).toContainEqual(lineOf('consumer_topic_gone', deleted, 1));
    expect(lines).toContainEqual(lineOf('consumer_topic_gone', kept, 0));
    expect(lines).not.toContainEqual(lineOf('kafka_consumer_records_lag', deleted, 0));
    expect(consumer.logs.all.join('\n')).not.toContain('the Kafka client tries again');
  });

  longTest('so it is for two consumers of a group, which share the partitions of the other', async () => {
    const [kept, deleted] = [await aTopic(), await aTopic()];
    const first = await startedWith([kept, deleted]);
    const { groupId, schema } = first;
    const second = await startConsumer({ topics: [kept, deleted], groupId, schema });
    await second.waitForHealth();
    let isNamed = false;
    const pause = longestPause(first, kept, () => isNamed);
    await deleteTopic(deleted);
    await Promise.all([first, second].map((consumer) => awaitGone(consumer, [deleted])));
    isNamed = true;
    expect(await pause).toBeLessThan(LONGEST_PAUSE_MS);
    for (const consumer of [first, second]) {
      await consumer.waitForHealth();
      expect(Object.keys((await detailsOf(consumer))['assignedPartitions'] as object)).toEqual([kept]);
    }
  });

  longTest('a consumer that starts by then reads the other', async () => {
    const [kept, deleted] = [await aTopic(), await aTopic()];
    const before = await startedWith([kept, deleted]);
    before.kill('SIGTERM');
    expect(await before.exited).toMatchObject({ code: 0 });
    await deleteTopic(deleted);
    await produce(kept, toAll());
    const { groupId, schema } = before;
    const consumer = await startConsumer({ topics: [kept, deleted], groupId, schema });
    await awaitEachOnce({ schema, topic: kept, records: 2 * PARTITIONS });
    await consumer.waitForHealth();
    await awaitGone(consumer, [deleted]);
  });

  longTest('consumer.onTopicGone: stop ends the process with exit code 1 and TOPIC_GONE', async () => {
    const [kept, deleted] = [await aTopic(), await aTopic()];
    const consumer = await startedWith([kept, deleted], 'stop');
    await deleteTopic(deleted);
    expect(await consumer.exited).toMatchObject({ code: 1 });
    const fatal = consumer.logs.all.filter((line) => line.includes('"fatal"'));
    expect(fatal).toEqual([expect.stringMatching(`TOPIC_GONE.*${deleted}`)]);
  });

  test('when it is created again the consumer stops, and nothing of the new one is read', async () => {
    const [kept, deleted] = [await aTopic(), await aTopic()];
    const consumer = await startedWith([kept, deleted]);
    await deleteTopic(deleted);
    await awaitGone(consumer, [deleted]);
    await until('the new topic', async () => {
      await createNamedTopic(deleted, { partitions: PARTITIONS });
      return true;
    });
    for (let round = 0; round < 3; round += 1) await produce(deleted, toAll());
    expect(await consumer.exited).toMatchObject({ code: 1 });
    const fatal = consumer.logs.all.filter((line) => line.includes('"fatal"'));
    expect(fatal).toEqual([expect.stringMatching(`TOPIC_RECREATED.*${deleted}`)]);
    const { schema } = consumer;
    expect(await query(`SELECT next_offset::int FROM ${schema}.offsets WHERE topic = $1`, [deleted])).toEqual(
      Array(PARTITIONS).fill({ next_offset: 1 }),
    );
    await awaitEachOnce({ schema, topic: deleted, records: PARTITIONS });
  });
});

longTest('all topics deleted: the health is DOWN, the process and the liveness group live on', async () => {
  const topics = [await aTopic(), await aTopic()].toSorted();
  const consumer = await startedWith(topics);
  for (const topic of topics) await deleteTopic(topic);
  await awaitGone(consumer, topics);
  await consumer.waitForHealth(503);
  expect(await detailsOf(consumer)).toMatchObject({ state: 'running', assignedPartitions: {} });
  expect((await consumer.get(consumer.endpoint.livenessPath)).status).toBe(200);
  expect(consumer.logs.all.join('\n')).not.toContain('the Kafka client tries again');
});

/** Asks as the kubelet does, and gives the answers that were not 200. */
async function probe(
  consumer: StartedConsumer,
  { periodSeconds, timeoutSeconds }: typeof LIVENESS_PROBE,
  isOver: AbortSignal,
): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  const url = `http://127.0.0.1:${consumer.port}${consumer.endpoint.healthPath}`;
  while (!isOver.aborted) {
    const signal = AbortSignal.timeout(timeoutSeconds * 1_000);
    const answer = await fetch(url, { signal }).then(({ status }) => status, String);
    if (answer !== 200) failures.push(answer);
    await systemClock.wait(periodSeconds * 1_000, isOver);
  }
  return failures;
}

const MEASURED_MS = 600_000;

longTest(
  'for 10 minutes after one of two topics was deleted the other has no pause above 10 s, and no probe fails',
  async () => {
    const [kept, deleted] = [await aTopic(), await aTopic()];
    const consumer = await startedWith([kept, deleted]);
    const over = new AbortController();
    const probes = [LIVENESS_PROBE, READINESS_PROBE].map((timing) => probe(consumer, timing, over.signal));
    const end = performance.now() + MEASURED_MS;
    const pause = longestPause(consumer, kept, () => performance.now() > end);
    await deleteTopic(deleted);
    expect(await pause).toBeLessThan(LONGEST_PAUSE_MS);
    over.abort();
    expect(await Promise.all(probes)).toEqual([[], []]);
    await awaitGone(consumer, [deleted]);
  },
  MEASURED_MS + 120_000,
);
