import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { METRICS } from '../../../contract/metrics.ts';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import type { StartedConsumer } from '../stack/start-consumer.ts';
import { awaitWaits, values } from '../stack/told-health.ts';

const role = randomName('role');
const databaseUrl = String(Object.assign(new URL(sharedDatabaseUrl()), { username: role, password: 'writer' }));
const database = new URL(databaseUrl).pathname.slice(1);

beforeAll(async () => {
  await query(`CREATE ROLE ${role} LOGIN PASSWORD 'writer'`);
  await query(`GRANT CREATE ON DATABASE ${database} TO ${role}`);
});

afterAll(async () => {
  await query(`DROP OWNED BY ${role} CASCADE`);
  await query(`DROP ROLE ${role}`);
});

const lettersOf = ({ schema }: StartedConsumer) => query(`SELECT FROM ${schema}.dead_letters`);

/** Two tables and their topics, with two records each, and a role that may write into both. */
async function granted(rights = 'INSERT') {
  const shop = new TemplatedShop();
  await shop.add('items', 'orders');
  for (const table of ['items', 'orders']) {
    await query(`ALTER TABLE ${shop.schema}.${table} ADD PRIMARY KEY (id), ADD note text`);
  }
  await query(`GRANT USAGE ON SCHEMA ${shop.schema} TO ${role}`);
  await query(`GRANT ${rights} ON ALL TABLES IN SCHEMA ${shop.schema} TO ${role}`);
  await Promise.all([shop.produce('items', 1, 2), shop.produce('orders', 1, 2)]);
  return shop;
}

/** The topic waits alone for a right, and its message has the statement that gives it. */
async function expectWaiting(consumer: StartedConsumer, topic: string, grant: string): Promise<void> {
  await awaitWaits(consumer, { [topic]: 'TABLES_DO_NOT_FIT' });
  expect(await values(consumer, METRICS.topicsWaiting)).toEqual([1]);
  expect(await values(consumer, METRICS.topicsWaiting, topic)).toEqual([1]);
  const lines = consumer.logs.all.filter((line) => line.includes('waits alone'));
  expect(lines).toEqual([expect.stringContaining(grant)]);
}

test('a topic whose table the role may not insert into at the start waits alone until it may', async () => {
  const shop = await granted();
  await query(`REVOKE INSERT ON ${shop.schema}.items FROM ${role}`);
  const consumer = await shop.start({ databaseUrl });
  await shop.awaitIds('orders', 1, 2);
  await expectWaiting(consumer, shop.topic('items'), `GRANT INSERT ON ${shop.schema}.items TO ${role}`);
  await Promise.all([shop.produce('items', 3), shop.produce('orders', 3)]);
  await shop.awaitIds('orders', 1, 2, 3);
  expect(await query(`SELECT FROM ${shop.schema}.items`)).toEqual([]);
  await query(`GRANT INSERT ON ${shop.schema}.items TO ${role}`);
  await shop.awaitIds('items', 1, 2, 3);
  await awaitWaits(consumer, {});
  expect(await lettersOf(consumer)).toEqual([]);
});

/** What is taken from the role while the consumer runs. */
const TAKEN = [
  ['INSERT', {}, 'INSERT', test],
  ['UPDATE', { key: 'primary' }, 'INSERT, SELECT, UPDATE, DELETE', longTest],
] as const;

for (const [right, entry, rights, register] of TAKEN) {
  register(`a topic waits alone when ${right} is taken from a role with ${rights}, until it has it again`, async () => {
    const shop = await granted(rights);
    const consumer = await shop.start({ databaseUrl, settings: { tables: [shop.rule(entry)] } });
    await Promise.all([shop.awaitIds('items', 1, 2), shop.awaitIds('orders', 1, 2)]);
    await query(`REVOKE ${right} ON ${shop.schema}.items FROM ${role}`);
    await Promise.all([shop.produce('items', 3, 4), shop.produce('orders', 3)]);
    await shop.awaitIds('orders', 1, 2, 3);
    await expectWaiting(consumer, shop.topic('items'), `GRANT ${right} ON ${shop.schema}.items TO ${role}`);
    await Promise.all([shop.produce('items', 5), shop.produce('orders', 4)]);
    await shop.awaitIds('orders', 1, 2, 3, 4);
    await shop.awaitIds('items', 1, 2);
    await query(`GRANT ${right} ON ${shop.schema}.items TO ${role}`);
    await shop.awaitIds('items', 1, 2, 3, 4, 5);
    await awaitWaits(consumer, {});
    expect(await lettersOf(consumer)).toEqual([]);
  });
}
