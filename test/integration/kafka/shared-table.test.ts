import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { query } from '../stack/database.ts';
import { produce } from '../stack/kafka-client.ts';
import { awaitWaits, values } from '../stack/told-health.ts';
import { createNamedTopic, deleteTopic } from '../stack/topic-changes.ts';
import { TemplatedShop } from './templated-shop.ts';

const write = (topic: string, ...ids: readonly number[]) =>
  produce(
    topic,
    ids.map((id) => ({ value: JSON.stringify({ id }) })),
  );

test('two topics that one table with braces maps to one table wait, until one of them is deleted', async () => {
  const [shop, us] = [new TemplatedShop(), new TemplatedShop().source];
  const topic = [`${shop.source}.{table}`, `${us}.{table}`];
  const [ofOrders, ofItems, other] = [`${shop.source}.orders`, `${shop.source}.items`, `${us}.orders`];
  await shop.add('orders', 'items');
  await Promise.all([createNamedTopic(ofOrders), createNamedTopic(ofItems)]);
  await Promise.all([write(ofOrders, 1, 2), write(ofItems, 1)]);
  const consumer = await shop.start({ settings: { tables: [{ topic, table: `${shop.schema}.{table}` }] } });
  await Promise.all([shop.awaitIds('orders', 1, 2), shop.awaitIds('items', 1)]);

  await createNamedTopic(other);
  await awaitWaits(consumer, { [ofOrders]: 'TABLES_DO_NOT_FIT', [other]: 'TABLES_DO_NOT_FIT' });
  expect(await values(consumer, METRICS.topicsWaiting)).toEqual([1, 1]);
  await Promise.all([write(other, 91, 92), write(ofOrders, 3, 4), write(ofItems, 2)]);
  await shop.awaitIds('items', 1, 2);
  await shop.awaitIds('orders', 1, 2);

  await deleteTopic(other);
  await shop.awaitIds('orders', 1, 2, 3, 4);
  await awaitWaits(consumer, {});
  expect(await values(consumer, METRICS.topicsWaiting)).toEqual([]);
  expect(await query(`SELECT FROM ${consumer.schema}.dead_letters`)).toEqual([]);
});
