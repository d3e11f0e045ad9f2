import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { produce } from '../stack/kafka-client.ts';
import type { StartedConsumer } from '../stack/start-consumer.ts';
import { awaitWaits, values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

const lettersOf = ({ schema }: StartedConsumer) =>
  query<{ topic: string; at: number }>(
    `SELECT topic, "offset"::int AS at FROM ${schema}.dead_letters ORDER BY topic, "offset"`,
  );

const offsetsOf = async ({ schema }: StartedConsumer, topic: string) => {
  const rows = await query<{ at: number }>(
    `SELECT next_offset::int AS at FROM ${schema}.offsets WHERE topic = $1 ORDER BY partition`,
    [topic],
  );
  return rows.map(({ at }) => at);
};

/** The topic waits with the code, in the health, the metric and one line of the log. */
async function expectWaiting(consumer: StartedConsumer, topic: string, code: string): Promise<void> {
  await awaitWaits(consumer, { [topic]: code });
  expect(await values(consumer, METRICS.topicsWaiting)).toEqual([1]);
  expect(await values(consumer, METRICS.topicsWaiting, topic)).toEqual([1]);
  const lines = consumer.logs.all.filter((line) => line.includes('waits alone'));
  expect(lines).toEqual([expect.stringContaining(`"topic":"${topic}","code":"${code}"`)]);
}

async function stopped(consumer: StartedConsumer): Promise<StartedConsumer> {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  return consumer;
}

test('a topic one of whose rows a trigger drops waits alone, and has each row once when the trigger is gone', async () => {
  const shop = new TemplatedShop();
  const { schema } = shop;
  await shop.add('items', 'orders');
  await query(`CREATE FUNCTION ${schema}.drops() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN IF NEW.id = 3 THEN RETURN NULL; END IF; RETURN NEW; END'`);
  await query(`CREATE TRIGGER drops BEFORE INSERT ON ${schema}.items FOR EACH ROW EXECUTE FUNCTION ${schema}.drops()`);
  await Promise.all([shop.produce('items', 1, 3, 5), shop.produce('orders', 1, 2)]);
  const consumer = await shop.start();
  const items = shop.topic('items');
  await Promise.all([shop.awaitIds('orders', 1, 2), consumer.logs.waitFor(/waits alone/)]);
  await expectWaiting(consumer, items, 'ROWS_DROPPED');

  await shop.produce('items', 2, 7);
  await shop.produce('orders', 3, 4);
  await shop.awaitIds('orders', 1, 2, 3, 4);
  expect([await query(`SELECT FROM ${schema}.items`), await offsetsOf(consumer, items)]).toEqual([[], [0, 0]]);
  await query(`DROP TRIGGER drops ON ${schema}.items`);
  await shop.awaitIds('items', 1, 2, 3, 5, 7);
  await awaitWaits(consumer, {});
  expect([await offsetsOf(consumer, items), await lettersOf(consumer)]).toEqual([[1, 4], []]);
  expect(await values(consumer, METRICS.topicsWaiting)).toEqual([]);
});

test('a topic with too many dead letters waits alone, and has them once the limit is another one', async () => {
  const shop = new TemplatedShop();
  await shop.add('items', 'orders');
  const items = shop.topic('items');
  const isPoison = (nth: number) => nth % 2 === 1;
  const written = Array.from({ length: 40 }, (_, nth) => nth);
  const records = written.map((nth) => ({ value: isPoison(nth) ? '{poison' : `{"id":${nth}}`, partition: 0 }));
  await Promise.all([produce(items, records), shop.produce('orders', 1, 2)]);
  const chosen = { settings: { deadLetters: { maxRatio: 0.01 } } };
  const first = await shop.start(chosen);
  await Promise.all([shop.awaitIds('orders', 1, 2), first.logs.waitFor(/waits alone/)]);
  await expectWaiting(first, items, 'TOO_MANY_DEAD_LETTERS');
  await shop.produce('orders', 3, 4);
  await shop.awaitIds('orders', 1, 2, 3, 4);
  expect([await offsetsOf(first, items), await lettersOf(first)]).toEqual([[0, 0], []]);
  const { groupId, schema } = await stopped(first);

  await shop.produce('items', 41);
  const unlimited = await shop.start({ groupId, schema, settings: { deadLetters: { maxRatio: 1 } } });
  await shop.awaitIds('items', ...written.filter((nth) => !isPoison(nth)), 41);
  await awaitWaits(unlimited, {});
  const letters = written.filter(isPoison).map((at) => ({ topic: items, at }));
  expect([await offsetsOf(unlimited, items), await lettersOf(unlimited)]).toEqual([[40, 1], letters]);
  await shop.awaitIds('orders', 1, 2, 3, 4);
});

test('a topic whose few rows a trigger refuses all waits alone, and has each row and no letter when it is gone', async () => {
  const shop = new TemplatedShop();
  const { schema } = shop;
  await shop.add('items', 'orders');
  await query(`CREATE FUNCTION ${schema}.closed() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'closed for stocktaking'; END $$`);
  await query(
    `CREATE TRIGGER closed BEFORE INSERT ON ${schema}.items FOR EACH ROW EXECUTE FUNCTION ${schema}.closed()`,
  );
  await Promise.all([shop.produce('items', 1, 2), shop.produce('orders', 1, 2)]);
  const consumer = await shop.start();
  const items = shop.topic('items');
  const more = [3, 4, 5, 6, 7, 8, 9, 10];
  await shop.awaitIds('orders', 1, 2);
  await shop.produce('items', ...more);
  await expectWaiting(consumer, items, 'TABLE_REFUSES_ROWS');
  expect([await offsetsOf(consumer, items), await lettersOf(consumer)]).toEqual([[0, 0], []]);
  await query(`DROP TRIGGER closed ON ${schema}.items`);
  await shop.awaitIds('items', 1, 2, ...more);
  await awaitWaits(consumer, {});
  expect([await offsetsOf(consumer, items), await lettersOf(consumer)]).toEqual([[5, 5], []]);
});

test('a single row that a table of a template refuses is a dead letter once the table takes another one', async () => {
  const shop = new TemplatedShop();
  await shop.add('items');
  await query(`ALTER TABLE ${shop.schema}.items ADD CONSTRAINT small CHECK (id < 100)`);
  await shop.produce('items', 101);
  const consumer = await shop.start();
  const items = shop.topic('items');
  await until('a row that is refused', async () => {
    const errors = await values(consumer, METRICS.errors);
    return errors.some((count) => count > 0) ? true : undefined;
  });
  expect(await lettersOf(consumer)).toEqual([]);
  await shop.produce('items', 2);
  await shop.awaitIds('items', 2);
  const letters = await until('a dead letter', async () => {
    const found = await lettersOf(consumer);
    return found.length > 0 ? found : undefined;
  });
  expect([await offsetsOf(consumer, items), letters]).toEqual([[1, 1], [{ topic: items, at: 0 }]]);
  expect(consumer.logs.all.filter((line) => line.includes('waits alone'))).toEqual([]);
});
