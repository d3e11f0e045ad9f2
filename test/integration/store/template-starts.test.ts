import { expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { until } from '../stack/until.ts';
import { connect, openStore } from './open-store.ts';

const TEMPLATE = 'shop.{table}';

/** A schema, and processes of groups in it whose first start finds two topics with their ends. */
async function aSchema() {
  const schema = randomName('schema');
  const settings = {
    kafka: { topics: [] },
    tables: ['shop.orders', 'shop.bills'].map((topic) => ({ topic, table: topic.replace('shop', 'public') })),
  };
  const process = (groupId = 'group') => {
    const { sink } = openStore({ schema, groupId, settings });
    const first = (topic: string, offset: bigint) => ({
      topic,
      takenBy: [TEMPLATE],
      choose: (stored: ReadonlySet<number>) => (stored.has(0) ? [] : [{ topic, partition: 0, offset, topicId: topic }]),
    });
    return {
      sink,
      begin: (offset: bigint, templates = [TEMPLATE]) =>
        sink.beginTemplates(templates, [first('shop.orders', offset), first('shop.bills', offset)]),
    };
  };
  await openStore({ schema }).sink.migrate();
  const offsets = async (groupId = 'group') =>
    (
      await query<{ offset: string }>(
        `SELECT topic || ' ' || next_offset AS offset FROM ${schema}.offsets WHERE group_id = $1 ORDER BY 1`,
        [groupId],
      )
    ).map(({ offset }) => offset);
  return { schema, process, offsets };
}

test('of several processes that start at once, one stores the first positions of all topics', async () => {
  const { process, offsets } = await aSchema();
  await Promise.all(Array.from({ length: 8 }, (_, nth) => process().begin(BigInt(nth))));
  const stored = await offsets();
  const [first] = stored;
  const nth = first?.split(' ')[1];
  expect(stored).toEqual([`shop.bills ${nth}`, `shop.orders ${nth}`]);
  expect(await process().sink.begunTemplates()).toEqual(new Set([TEMPLATE]));
});

test('a process that is killed before its commit has stored nothing, and the next start is the first one', async () => {
  const { schema, process, offsets } = await aSchema();
  const { sink, begin } = process();
  const holder = await connect();
  // The row of the second topic, which the transaction waits for when it has stored the template and the first topic.
  await holder.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('${schema}/group/shop.bills', 0))`);
  const killed = begin(5n).catch(() => 'killed');
  const pid = await until('a transaction that waits', async () => {
    const rows = await query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND (classid::int8 << 32 | objid::int8) = hashtextextended('${schema}/group/shop.bills', 0)`,
    );
    return rows[0]?.pid;
  });
  await query('SELECT pg_terminate_backend($1)', [pid]);
  expect(await killed).toBe('killed');
  await holder.query('COMMIT');
  expect([await offsets(), await sink.begunTemplates()]).toEqual([[], new Set()]);
  await begin(7n);
  expect(await offsets()).toEqual(['shop.bills 7', 'shop.orders 7']);
});

test('what a template has begun with stays, and another template takes nothing of it', async () => {
  const { process, offsets } = await aSchema();
  const { begin } = process();
  await begin(5n);
  await begin(9n);
  await begin(9n, [TEMPLATE, 'other.{table}']);
  expect(await offsets()).toEqual(['shop.bills 5', 'shop.orders 5']);
});

test('a topic whose table another group fills gets no position, and the others get theirs', async () => {
  const { process, offsets } = await aSchema();
  const first = { topic: 'shop.bills', partition: 0, offset: 1n, topicId: 'shop.bills' };
  await process('another').sink.initialize('shop.bills', () => [first]);
  await process().begin(5n);
  expect(await offsets()).toEqual(['shop.orders 5']);
});
