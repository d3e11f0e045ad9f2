import { expect, test } from '@jest/globals';
import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { METRICS } from '../../../contract/metrics.ts';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { awaitWaits, values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

test('a topic that an entry names ends the process where one of a template waits, and not the other way round', async () => {
  const [shop, named] = [new TemplatedShop(), await createTopic()];
  await shop.add('items', 'orders');
  await Promise.all([shop.produce('items', 1), shop.produce('orders', 1, 2), produce(named, [{ value: '{"id":7}' }])]);
  const settings = { tables: [shop.rule(), { topic: named, table: `${shop.schema}.named` }] };
  const refused = await shop.start({ settings });
  expect(await refused.exited).toMatchObject({ code: EXIT_CODE.configuration });
  const fatal = refused.logs.all.filter((line) => line.includes('"fatal"'));
  expect(fatal).toEqual([
    expect.stringMatching(/"code":"TABLES_DO_NOT_FIT".* 1 problem\..*tables\[1\]\.table is not there/),
  ]);
  expect(await query(`SELECT FROM ${shop.schema}.orders`)).toEqual([]);

  await query(`CREATE TABLE ${shop.schema}.named (id int)`);
  await query(`ALTER TABLE ${shop.schema}.items RENAME TO later`);
  const { groupId, schema } = refused;
  const consumer = await shop.start({ groupId, schema, settings });
  await consumer.waitForHealth();
  const namedRow = async () => (await query<{ id: number }>(`SELECT id FROM ${shop.schema}.named`)).at(0);
  expect(await until('the row of the topic that is named', namedRow)).toEqual({ id: 7 });
  await shop.awaitIds('orders', 1, 2);
  await awaitWaits(consumer, { [shop.topic('items')]: 'TABLES_DO_NOT_FIT' });
  expect(await values(consumer, METRICS.topicsWaiting)).toEqual([1]);

  await query(`ALTER TABLE ${shop.schema}.later RENAME TO items`);
  await shop.awaitIds('items', 1);
  await awaitWaits(consumer, {});
  expect(await query(`SELECT FROM ${schema}.dead_letters`)).toEqual([]);
});
