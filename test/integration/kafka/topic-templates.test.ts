import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { longTest } from '../stack/long-test.ts';
import type { StartedConsumer } from '../stack/start-consumer.ts';
import { deleteTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';
import { TemplatedShop } from './templated-shop.ts';

const LATEST = { consumer: { startFrom: 'latest' } } as const;

async function stop(consumer: StartedConsumer, signal: NodeJS.Signals): Promise<void> {
  consumer.kill(signal);
  await consumer.exited;
}

const logOf = ({ logs }: StartedConsumer): string => logs.all.join('\n');

/** The topics that the metrics of a consumer have series of. */
async function topicsIn(consumer: StartedConsumer): Promise<ReadonlySet<string>> {
  const text = await (await consumer.get(consumer.endpoint.prometheusPath)).text();
  return new Set(text.split('\n').flatMap((line) => /[{,]topic="(.*?)"/.exec(line)?.[1] ?? []));
}

test('a topic that a rule takes is read once it is there, while the others are read on', async () => {
  const shop = new TemplatedShop();
  await shop.add('orders', 'items');
  await Promise.all([shop.produce('orders', 1, 2), shop.produce('items', 1)]);
  const consumer = await shop.start();
  await shop.awaitIds('orders', 1, 2);
  await shop.awaitIds('items', 1);

  await shop.add('bills');
  await shop.produce('bills', 1, 2, 3);
  await shop.awaitIds('bills', 1, 2, 3);
  expect(logOf(consumer)).not.toMatch(/"revoked":\{"/);
});

longTest('of a topic that is deleted the series end, and nothing but a line of the log is left', async () => {
  const shop = new TemplatedShop();
  await shop.add('orders', 'items');
  await Promise.all([shop.produce('orders', 1, 2), shop.produce('items', 1)]);
  const consumer = await shop.start();
  await shop.awaitIds('orders', 1, 2);
  await shop.awaitIds('items', 1);
  await deleteTopic(shop.topic('items'));
  await until('the end of the series of items', async () =>
    (await topicsIn(consumer)).has(shop.topic('items')) ? undefined : true,
  );
  await shop.produce('orders', 3);
  await shop.awaitIds('orders', 1, 2, 3);
  await consumer.waitForHealth();
  expect(logOf(consumer).match(/these topics were deleted/g)).toHaveLength(1);
  expect(logOf(consumer)).not.toMatch(/"level":(50|60)/);
  expect(await topicsIn(consumer)).toEqual(new Set([shop.topic('orders')]));
});

test('startFrom: latest is about the topics of the first start, and later ones begin at their beginning', async () => {
  const shop = new TemplatedShop();
  await shop.add('orders');
  await shop.produce('orders', 1, 2);
  const first = await shop.start({ settings: LATEST });
  await first.waitForHealth();
  await shop.produce('orders', 3);
  await shop.awaitIds('orders', 3);
  await stop(first, 'SIGKILL');

  await shop.add('bills');
  await shop.produce('bills', 1, 2);
  const { groupId, schema } = first;
  await shop.start({ groupId, schema, settings: LATEST });
  await shop.awaitIds('bills', 1, 2);
  await shop.awaitIds('orders', 3);
  expect(await query(`SELECT group_id, template FROM ${schema}.templates`)).toEqual([
    { group_id: groupId, template: `${shop.source}.{schema}.{table}` },
  ]);
});

for (const groupProtocol of ['classic', 'consumer']) {
  longTest(`two members share what a template takes, by the protocol ${groupProtocol}`, async () => {
    const shop = new TemplatedShop();
    await shop.add('orders', 'items');
    const settings = { kafka: { groupProtocol } };
    const one = await shop.start({ settings });
    await one.waitForHealth();
    const { groupId, schema } = one;
    const other = await shop.start({ groupId, schema, settings });
    await other.waitForHealth();
    await shop.add('bills');
    for (const table of ['orders', 'items', 'bills']) await shop.produce(table, 1, 2, 3, 4);
    for (const table of ['orders', 'items', 'bills']) await shop.awaitIds(table, 1, 2, 3, 4);
    await stop(other, 'SIGTERM');
    await shop.produce('bills', 5, 6);
    await shop.awaitIds('bills', 1, 2, 3, 4, 5, 6);
    expect(await query(`SELECT FROM ${schema}.dead_letters`)).toEqual([]);
  });
}
