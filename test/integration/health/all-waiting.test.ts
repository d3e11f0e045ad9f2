import { expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { longTest } from '../stack/long-test.ts';
import type { StartedConsumer } from '../stack/start-consumer.ts';
import { awaitWaits, root, values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

/** What a probe of Kubernetes gets. */
async function probe(consumer: StartedConsumer, group: 'livenessPath' | 'readinessPath') {
  const answer = await consumer.get(consumer.endpoint[group]);
  return { http: answer.status, ...((await answer.json()) as { readonly status: string }) };
}

const UP = { http: 200, status: 'UP' };
const DOWN = { http: 503, status: 'DOWN' };

/** Waits until readiness is so; liveness is UP whatever readiness is. */
async function awaitReadiness(consumer: StartedConsumer, wanted: typeof UP): Promise<void> {
  await until(`readiness to be ${wanted.status}`, async () => {
    expect(await probe(consumer, 'livenessPath')).toEqual(UP);
    return (await probe(consumer, 'readinessPath')).status === wanted.status ? true : undefined;
  });
  expect(await probe(consumer, 'readinessPath')).toEqual(wanted);
}

/** Two topics of a template, with two records each. */
async function shopOfTwo() {
  const shop = new TemplatedShop();
  await shop.add('items', 'orders');
  await Promise.all([shop.produce('items', 1, 2), shop.produce('orders', 1, 2)]);
  const rename = (from: string, to: string) => query(`ALTER TABLE ${shop.schema}.${from} RENAME TO ${to}`);
  const [items, orders] = [shop.topic('items'), shop.topic('orders')];
  return { shop, rename, items, orders };
}

const lettersOf = ({ schema }: StartedConsumer) => query(`SELECT FROM ${schema}.dead_letters`);

test('readiness is DOWN while all topics wait, and UP when one of them goes on; liveness stays UP', async () => {
  const { shop, rename, items, orders } = await shopOfTwo();
  await rename('items', 'items_later');
  await rename('orders', 'orders_later');
  const consumer = await shop.start();
  await awaitWaits(consumer, { [items]: 'TABLES_DO_NOT_FIT', [orders]: 'TABLES_DO_NOT_FIT' });
  await awaitReadiness(consumer, DOWN);
  const { status, details } = (await root(consumer)).components['consumer'] ?? {};
  expect([status, details?.['state']]).toEqual(['DOWN', 'running']);
  expect(await values(consumer, METRICS.topicsWaiting)).toEqual([1, 1]);
  await rename('orders_later', 'orders');
  await shop.awaitIds('orders', 1, 2);
  await awaitReadiness(consumer, UP);
  await awaitWaits(consumer, { [items]: 'TABLES_DO_NOT_FIT' });
  expect(await lettersOf(consumer)).toEqual([]);
});

longTest('readiness is DOWN when the last topic that was written waits as well, until all go on', async () => {
  const { shop, rename, items, orders } = await shopOfTwo();
  await rename('items', 'items_later');
  const consumer = await shop.start();
  await shop.awaitIds('orders', 1, 2);
  await awaitWaits(consumer, { [items]: 'TABLES_DO_NOT_FIT' });
  await awaitReadiness(consumer, UP);
  await rename('orders', 'orders_later');
  await shop.produce('orders', 3);
  await awaitReadiness(consumer, DOWN);
  await awaitWaits(consumer, { [items]: 'TABLES_DO_NOT_FIT', [orders]: 'TABLES_DO_NOT_FIT' });
  await rename('items_later', 'items');
  await rename('orders_later', 'orders');
  await Promise.all([shop.awaitIds('items', 1, 2), shop.awaitIds('orders', 1, 2, 3)]);
  await awaitReadiness(consumer, UP);
  await awaitWaits(consumer, {});
  expect(await lettersOf(consumer)).toEqual([]);
});
