import { expect, test } from '@jest/globals';
import { ConfigResourceTypes } from 'kafkajs';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { createTopic, kafkaClient, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import type { StartedConsumer } from '../stack/start-consumer.ts';
import { awaitWaits, root } from '../stack/told-health.ts';

async function stopped(consumer: StartedConsumer): Promise<StartedConsumer> {
  consumer.kill('SIGTERM');
  expect(await consumer.exited).toMatchObject({ code: 0 });
  return consumer;
}

/** Work as an administrator of Kafka. */
async function administer(work: (admin: ReturnType<ReturnType<typeof kafkaClient>['admin']>) => Promise<unknown>) {
  const admin = kafkaClient().admin();
  await admin.connect();
  await work(admin).finally(() => admin.disconnect());
}

/** Three topics of which a consumer has read what they have, and stopped; each has further records since. */
async function readBefore() {
  const shop = new TemplatedShop();
  const tables = ['items', 'orders', 'bills'];
  await shop.add(...tables);
  await Promise.all(tables.map((table) => shop.produce(table, 1, 2, 3, 4)));
  const first = await shop.start();
  await Promise.all(tables.map((table) => shop.awaitIds(table, 1, 2, 3, 4)));
  const { groupId, schema } = await stopped(first);
  await Promise.all(tables.map((table) => shop.produce(table, 6, 8)));
  /** Sets the stored offset of the topic's first partition. */
  const store = (topic: string, offset: number) =>
    query(`UPDATE ${schema}.offsets SET next_offset = ${offset} WHERE topic = $1 AND partition = 0`, [topic]);
  return { shop, store, again: () => shop.start({ groupId, schema }) };
}

test('a topic whose unread records are gone waits alone, until the stored offset is one that Kafka has', async () => {
  const { shop, store, again } = await readBefore();
  const items = shop.topic('items');
  await administer(async (admin) => {
    // kafkajs deletes records of topics that it has metadata of.
    await admin.fetchTopicOffsets(items);
    await admin.deleteTopicRecords({ topic: items, partitions: [{ partition: 0, offset: '3' }] });
  });
  const consumer = await again();
  await Promise.all([
    shop.awaitIds('orders', 1, 2, 3, 4, 6, 8),
    shop.awaitIds('bills', 1, 2, 3, 4, 6, 8),
    awaitWaits(consumer, { [items]: 'OFFSETS_GONE' }),
  ]);
  await store(items, 3);
  await shop.awaitIds('items', 1, 2, 3, 4, 8);
  await awaitWaits(consumer, {});
  expect(await query(`SELECT FROM ${consumer.schema}.dead_letters`)).toEqual([]);
});

longTest('a topic whose stored offset is ahead of its end waits alone, until the offset is one of it', async () => {
  const { shop, store, again } = await readBefore();
  const orders = shop.topic('orders');
  await store(orders, 100);
  const consumer = await again();
  await Promise.all([
    shop.awaitIds('items', 1, 2, 3, 4, 6, 8),
    shop.awaitIds('bills', 1, 2, 3, 4, 6, 8),
    awaitWaits(consumer, { [orders]: 'STORED_OFFSET_AHEAD' }),
  ]);
  await store(orders, 2);
  await shop.awaitIds('orders', 1, 2, 3, 4, 6, 8);
  await awaitWaits(consumer, {});
  expect(await query(`SELECT FROM ${consumer.schema}.dead_letters`)).toEqual([]);
});

longTest('topics whose tables another group fills wait, and those that are shared do not', async () => {
  const shop = new TemplatedShop();
  await shop.add('items', 'orders');
  await Promise.all([shop.produce('items', 1), shop.produce('orders', 1)]);
  const first = await shop.start();
  await Promise.all([shop.awaitIds('items', 1), shop.awaitIds('orders', 1)]);
  const { schema } = await stopped(first);
  await Promise.all([shop.produce('items', 2), shop.produce('orders', 2)]);

  const second = await shop.start({ schema });
  const [items, orders] = [shop.topic('items'), shop.topic('orders')];
  await awaitWaits(second, { [items]: 'GROUP_MEETS_ANOTHER', [orders]: 'GROUP_MEETS_ANOTHER' });
  expect((await root(second)).components['consumer']).toMatchObject({ status: 'DOWN' });
  await shop.awaitIds('items', 1);
  const { groupId } = await stopped(second);

  const sharing = { tables: [shop.rule({ sharedWithGroups: true })] };
  const third = await shop.start({ schema, groupId, settings: sharing });
  await shop.awaitIds('orders', 1, 1, 2);
  await awaitWaits(third, {});
});

longTest(
  'a topic whose letter the topic for dead letters refuses waits alone, and goes on when it takes it',
  async () => {
    const shop = new TemplatedShop();
    await shop.add('items', 'orders');
    const letters = await createTopic({ config: { 'max.message.bytes': '10000' } });
    const consumer = await shop.start({ settings: { deadLetters: { to: 'both', topic: letters } } });
    const items = shop.topic('items');
    await shop.produce('items', 2);
    await shop.awaitIds('items', 2);
    await produce(items, [{ value: `{${'x'.repeat(20_000)}`, partition: 0 }]);
    await awaitWaits(consumer, { [items]: 'DEAD_LETTER_TOPIC_REFUSED' });
    await shop.produce('orders', 1);
    await shop.awaitIds('orders', 1);
    expect(await query(`SELECT FROM ${consumer.schema}.dead_letters`)).toEqual([]);
    await administer((admin) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: ConfigResourceTypes.TOPIC,
            name: letters,
            configEntries: [{ name: 'max.message.bytes', value: '100000' }],
          },
        ],
      }),
    );
    await shop.produce('items', 4);
    await shop.awaitIds('items', 2, 4);
    expect(await query(`SELECT topic FROM ${consumer.schema}.dead_letters`)).toEqual([{ topic: items }]);
    await awaitWaits(consumer, {});
  },
);
