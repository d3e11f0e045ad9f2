import { describe, expect, test } from '@jest/globals';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { until } from '../stack/until.ts';
import { connect, openStore } from './open-store.ts';

const ID = 'MAY9gLLuRv6PPlUO7yaqbw';
const OTHER_ID = 'QKLOJCEgTwqYQhrNM6flkg';
const STARTED_AT_ONCE = 8;

const entry = (table: string, more: object = {}) => ({ topic: 'orders', table, ...more });
const APPENDED = entry('public.orders');

/** A schema with the tables of this version, and groups that write into it. */
async function aSchema() {
  const schema = randomName('schema');
  /** A process of a group, whose tables need not be there to be known. */
  const group = (groupId: string, tables: readonly object[], topics: readonly string[] = []) => {
    const { sink, shared } = openStore({ schema, groupId, settings: { tables, kafka: { topics } } });
    const first = (topicId: string | null, partitions: number) => (stored: ReadonlySet<number>) =>
      Array.from({ length: partitions }, (_, partition) => ({
        topic: 'orders',
        partition,
        offset: 0n,
        topicId,
      })).filter(({ partition }) => !stored.has(partition));
    return {
      shared,
      /** What the first assignment of the group does, and each one that finds partitions without an offset. */
      start: async (topicId: string | null = ID, partitions = 1) => {
        await sink.initialize('orders', first(topicId, partitions));
      },
      /** What each other assignment does. */
      assign: (topicId: string | null = ID) => sink.recordTables(new Map([['orders', topicId]])),
    };
  };
  await openStore({ schema }).sink.migrate();
  const groups = async () =>
    (await query<{ group_id: string }>(`SELECT DISTINCT group_id FROM ${schema}.offsets ORDER BY 1`)).map(
      (row) => row.group_id,
    );
  const filled = () =>
    query(`SELECT group_id, topic, topic_id, target FROM ${schema}.filled_tables ORDER BY group_id, target, topic_id`);
  const forget = () => query(`TRUNCATE ${schema}.filled_tables`);
  /** A transaction that has the lock. */
  const held = async () => {
    const client = await connect();
    const key = `hashtextextended('${schema}//filled_tables', 0)`;
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${key})`);
    const waiting = `SELECT FROM pg_locks
      WHERE locktype = 'advisory' AND NOT granted AND (classid::int8 << 32 | objid::int8) = ${key}`;
    return {
      query: (sql: string) => client.query(sql),
      awaited: (count: number) =>
        until(`${count} transactions that wait`, async () =>
          (await query(waiting)).length === count ? true : undefined,
        ),
      release: () => client.query('COMMIT'),
    };
  };
  return { schema, group, groups, filled, forget, held };
}

const row = (group_id: string, target: string, topic_id = ID) => ({ group_id, topic: 'orders', topic_id, target });
const MET = { code: 'GROUP_MEETS_ANOTHER' };

describe('a group without a stored offset', () => {
  test('stores the tables that it fills with its first offsets, records among them', async () => {
    const { group, filled } = await aSchema();
    await group(
      'a',
      [APPENDED, entry('public.sums', { key: 'id' }), { topic: 'others', table: 'public.x' }],
      ['orders'],
    ).start();
    expect(await filled()).toEqual([row('a', 'public.orders'), row('a', 'public.sums'), row('a', 'records')]);
  });

  test.each([
    ['appends to', {}],
    ['writes by key into', { key: 'id' }],
  ])('that %s a table which another group fills from the same topic is refused', async (_, more) => {
    const { schema, group, groups, filled } = await aSchema();
    await group('a', [APPENDED]).start();
    const told = await group('b', [entry('public.orders', more)])
      .start()
      .catch((error: Error) => error);
    expect(told).toMatchObject(MET);
    const { message } = told as Error;
    for (const part of ['group b has no stored offset of the topic orders', 'group a fills the table public.orders']) {
      expect(message).toContain(part);
    }
    for (const way of [
      'If group b is to take the place of a, set kafka.groupId to that name',
      'set tables[].sharedWithGroups: true for group b',
      `delete its rows of this topic from "${schema}".filled_tables and "${schema}".offsets`,
    ]) {
      expect(message).toContain(way);
    }
    expect({ groups: await groups(), filled: await filled() }).toEqual({
      groups: ['a'],
      filled: [row('a', 'public.orders')],
    });
  });

  test('is refused by each of its tables, and by those alone that it does not share', async () => {
    const { group } = await aSchema();
    await group('a', [APPENDED, entry('public.sums'), entry('public.logs')]).start();
    const shared = { sharedWithGroups: true };
    const told = group('b', [entry('public.orders', shared), entry('public.sums'), entry('public.logs')]).start();
    await expect(told).rejects.toThrow(
      /fills the table public\.logs from it already; group a fills the table public\.sums/,
    );
    await expect(told).rejects.not.toThrow(/fills the table public\.orders/);
  });

  test('is admitted with its setting sharedWithGroups, and then refuses a third one', async () => {
    const { group, groups } = await aSchema();
    await group('a', [APPENDED]).start();
    const second = group('b', [entry('public.orders', { sharedWithGroups: true })]);
    await second.start();
    expect(second.shared).toEqual([]);
    await expect(group('c', [APPENDED]).start()).rejects.toThrow(/group a fills .*; group b fills/);
    expect(await groups()).toEqual(['a', 'b']);
  });

  test('is admitted where the groups share a topic and no table, or a table and no topic', async () => {
    const { group, groups } = await aSchema();
    await group('a', [APPENDED], ['orders']).start();
    await group('b', [entry('public.others')]).start();
    await group('c', [], ['orders']).start();
    await group('d', [{ topic: 'others', table: 'public.orders' }, entry('sales.orders')]).start();
    expect(await groups()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('is admitted to a topic of the same name with another id, and refused where an id is not known', async () => {
    const { group, groups } = await aSchema();
    await group('a', [APPENDED]).start();
    await group('b', [APPENDED]).start(OTHER_ID);
    await expect(group('c', [APPENDED]).start(null)).rejects.toMatchObject(MET);
    const unknown = await aSchema();
    await unknown.group('a', [APPENDED]).start(null);
    await expect(unknown.group('b', [APPENDED]).start()).rejects.toMatchObject(MET);
    expect(await groups()).toEqual(['a', 'b']);
  });

  test('is refused by a table that the other group no longer names in its settings: its rows are there', async () => {
    const { group } = await aSchema();
    await group('a', [APPENDED, entry('public.sums')]).start();
    await group('a', [entry('public.sums')]).assign();
    await expect(group('b', [APPENDED]).start()).rejects.toMatchObject(MET);
  });

  test('is admitted once the rows of a group that is gone are deleted as the message says', async () => {
    const { schema, group, groups } = await aSchema();
    await group('a', [APPENDED]).start();
    await expect(group('b', [APPENDED]).start()).rejects.toMatchObject(MET);
    for (const table of ['filled_tables', 'offsets']) {
      await query(`DELETE FROM ${schema}.${table} WHERE group_id = 'a' AND topic = 'orders'`);
    }
    await group('b', [APPENDED]).start();
    expect(await groups()).toEqual(['b']);
  });

  test('is admitted alone of many that start at once', async () => {
    const { group, groups, filled, held } = await aSchema();
    const lock = await held();
    const names = Array.from({ length: STARTED_AT_ONCE }, (_, nth) => `group-${nth}`);
    const starts = Promise.allSettled(names.map((name) => group(name, [APPENDED]).start()));
    await lock.awaited(STARTED_AT_ONCE);
    await lock.release();
    const refused = (await starts).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(STARTED_AT_ONCE - 1);
    expect(refused.every((each) => 'reason' in each && each.reason.code === MET.code)).toBe(true);
    expect(await groups()).toHaveLength(1);
    expect(await filled()).toEqual([row((await groups())[0] ?? '', 'public.orders')]);
  });

  test('waits for one with offsets that is about to store a table', async () => {
    const { schema, group, held } = await aSchema();
    const lock = await held();
    await lock.query(`INSERT INTO ${schema}.filled_tables VALUES ('a', 'orders', '${ID}', 'public.orders')`);
    const second = group('b', [APPENDED]).start();
    second.catch(() => undefined);
    await lock.awaited(1);
    await lock.release();
    await expect(second).rejects.toMatchObject(MET);
  });
});

describe('a group with a stored offset', () => {
  test('is never refused: not by a new process, not by further partitions, not by a table that comes to its settings', async () => {
    const { group, filled, groups } = await aSchema();
    await group('a', [APPENDED]).start();
    await group('a', [APPENDED]).start();
    await group('a', [APPENDED]).start(ID, 3);
    const more = group('a', [APPENDED, entry('public.sums')]);
    await more.assign();
    expect(await filled()).toEqual([row('a', 'public.orders'), row('a', 'public.sums')]);
    expect(more.shared).toEqual([]);
    await expect(group('b', [entry('public.sums')]).start()).rejects.toMatchObject(MET);
    expect(await groups()).toEqual(['a']);
  });

  test('in an upgraded schema has its tables stored at its next assignment, and one warning of another such group', async () => {
    const { group, groups, filled, forget } = await aSchema();
    const consents = { sharedWithGroups: true };
    await group('a', [APPENDED]).start();
    await group('b', [entry('public.orders', consents)]).start();
    await forget();
    await expect(group('c', [APPENDED]).start()).rejects.toThrow(
      /group a has stored offsets of it and has not run with this version yet, so it may fill public\.orders, .*; group b has/,
    );
    const first = group('a', [APPENDED]);
    await first.assign();
    const second = group('b', [APPENDED]);
    await second.assign();
    await second.assign();
    await second.start(ID, 2);
    expect([first.shared, second.shared]).toEqual([[], [[{ table: 'public.orders', topic: 'orders', groupId: 'a' }]]]);
    expect(await filled()).toEqual([row('a', 'public.orders'), row('b', 'public.orders')]);
    await expect(group('c', [APPENDED]).start()).rejects.toThrow(/group a fills the table .*; group b fills the table/);
    const consenting = group('b', [entry('public.orders', consents)]);
    await consenting.assign();
    expect(consenting.shared).toEqual([]);
    expect(await groups()).toEqual(['a', 'b']);
  });

  test('whose tables are not known is no obstacle to a group that fills no mapped table, or shares it, or reads another topic of the name', async () => {
    const { group, groups, forget } = await aSchema();
    await group('a', [APPENDED]).start();
    await forget();
    await group('b', [], ['orders']).start();
    await group('c', [entry('public.orders', { sharedWithGroups: true })]).start();
    await group('d', [entry('public.logs')]).start(OTHER_ID);
    expect(await groups()).toEqual(['a', 'b', 'c', 'd']);
    await expect(group('e', [entry('public.logs')]).start()).rejects.toMatchObject(MET);
    await group('a', [APPENDED]).assign();
    await group('e', [entry('public.sums')]).start();
  });

  test('waits at an assignment for no other group where its tables are stored', async () => {
    const { group, held } = await aSchema();
    const one = group('a', [APPENDED]);
    await one.start();
    const lock = await held();
    await one.assign();
    await lock.release();
  });
});
