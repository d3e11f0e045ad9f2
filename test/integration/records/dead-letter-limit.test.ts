import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { type ConsumerUnderTest, type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { createNamedTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';

const MOST = 500;

const count = async ({ schema }: Pick<StartedConsumer, 'schema'>, table: string) =>
  (await query<{ count: number }>(`SELECT count(*)::int AS count FROM ${schema}.${table}`))[0]?.count ?? 0;

/** The sum of the stored offsets. */
const stored = async ({ schema }: StartedConsumer) =>
  (await query<{ sum: number }>(`SELECT sum(next_offset)::int AS sum FROM ${schema}.offsets`))[0]?.sum ?? 0;

const awaitStored = (consumer: StartedConsumer, records: number) =>
  until(`${records} records behind the stored offsets`, async () =>
    (await stored(consumer)) === records ? true : undefined,
  );

/** What the consumer said at its end. */
async function fatal(consumer: StartedConsumer): Promise<{ readonly code: string; readonly msg: string }> {
  expect(await consumer.exited).toMatchObject({ code: 1 });
  return JSON.parse(consumer.logs.all.find((entry) => entry.includes('"fatal"')) ?? '{}');
}

const values = (records: number, isPoison: (nth: number) => boolean) =>
  Array.from({ length: records }, (_, nth) => ({ value: isPoison(nth) ? '{poison' : '{}' }));

/** A restart of the consumer, as a supervisor makes it. */
const again = ({ groupId, schema }: StartedConsumer, chosen: ConsumerUnderTest) =>
  startConsumer({ ...chosen, groupId, schema });

/** Ends a consumer that is to go on. */
async function stop(consumer: StartedConsumer): Promise<void> {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
}

test('a topic with 40 % poison goes on, as rows and dead letters', async () => {
  const topic = await createTopic({ partitions: 3 });
  await produce(
    topic,
    values(3_000, (nth) => nth % 5 < 2),
  );
  const consumer = await startConsumer({ topics: [topic] });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 3_000 });
  expect(await count(consumer, 'dead_letters')).toBe(1_200);
  await consumer.waitForHealth();
});

test('a topic that turns into poison stops after a thousand dead letters at most, and restarts add none', async () => {
  const topic = await createTopic({ partitions: 6 });
  await produce(
    topic,
    values(3_000, () => false),
  );
  const chosen = { topics: [topic] };
  const consumer = await startConsumer(chosen);
  await awaitStored(consumer, 3_000);
  for (let nth = 0; nth < 6; nth += 1) {
    await produce(
      topic,
      values(200, () => true),
    );
  }
  expect(await fatal(consumer)).toMatchObject({
    code: 'TOO_MANY_DEAD_LETTERS',
    msg: expect.stringMatching(/more than 500 of 1000 .*invalid_json; the first is offset \d+: .*SQLSTATE 22P02/),
  });
  const letters = [await count(consumer, 'dead_letters')];
  expect(letters[0]).toBeLessThanOrEqual(MOST);
  for (let restart = 0; restart < 2; restart += 1) {
    expect(await fatal(await again(consumer, chosen))).toMatchObject({ code: 'TOO_MANY_DEAD_LETTERS' });
    letters.push(await count(consumer, 'dead_letters'));
  }
  expect(Math.max(...letters)).toBeLessThanOrEqual(MOST);
  expect(await stored(consumer)).toBe(3_000 + (letters.at(-1) ?? 0));

  const unlimited = await again(consumer, { ...chosen, settings: { deadLetters: { maxRatio: 1 } } });
  await awaitEachOnce({ schema: consumer.schema, topic, records: 4_200 });
  expect(await count(consumer, 'dead_letters')).toBe(1_200);
  await stop(unlimited);
});

test('dead letters that go to a topic alone are counted from the start of each process', async () => {
  const topic = await createTopic();
  await createNamedTopic(`${topic}.dead-letters`, { partitions: 1 });
  const chosen = { topics: [topic], settings: { deadLetters: { to: 'topic' } } };
  const consumer = await startConsumer(chosen);
  await produce(
    topic,
    values(MOST, () => true),
  );
  await awaitStored(consumer, MOST);
  await produce(topic, [{ value: '{poison' }]);
  expect(await fatal(consumer)).toMatchObject({ code: 'TOO_MANY_DEAD_LETTERS' });
  expect(await stored(consumer)).toBe(MOST);
  const restarted = await again(consumer, chosen);
  await awaitStored(restarted, MOST + 1);
  await stop(restarted);
});

longTest(
  'a constraint that refuses every row stops the consumer with its name; without it nothing is lost',
  async () => {
    const topic = await createTopic();
    const chosen = { topics: [topic] };
    const consumer = await startConsumer(chosen);
    await consumer.waitForHealth();
    await query(`ALTER TABLE ${consumer.schema}.records ADD CONSTRAINT no_more_rows CHECK (false)`);
    await produce(
      topic,
      values(2_000, () => false),
    );
    const refusal = { code: 'TABLE_REFUSES_ROWS', msg: expect.stringContaining('"no_more_rows"') };
    expect(await fatal(consumer)).toMatchObject(refusal);
    expect(await fatal(await again(consumer, chosen))).toMatchObject(refusal);
    expect(await count(consumer, 'dead_letters')).toBe(0);
    expect(await stored(consumer)).toBe(0);
    await query(`ALTER TABLE ${consumer.schema}.records DROP CONSTRAINT no_more_rows`);
    await again(consumer, chosen);
    await awaitEachOnce({ schema: consumer.schema, topic, records: 2_000 });
    expect(await count(consumer, 'records')).toBe(2_000);
  },
);
