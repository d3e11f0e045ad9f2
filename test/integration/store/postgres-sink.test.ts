import { expect, test } from '@jest/globals';
import { readPlace } from '../../../app/store/postgres-sink.ts';
import { FatalError } from '../../../app/stream/ports/stream-errors.ts';
import { query } from '../stack/database.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { aRequest, connect, openStore } from './open-store.ts';

test('a place is the schema, the database and the server, as far as the role may see it', async () => {
  const { sink, schema } = openStore();
  const [server] = await query<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()');
  const place = { schema, database: new URL(sharedDatabaseUrl()).pathname.slice(1) };
  expect(await sink.place()).toEqual({ ...place, systemIdentifier: server?.id });
});

test('the place of a role that may not see the server has no identifier of it', async () => {
  const client = await connect();
  await client.query(
    'BEGIN; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC, pg_monitor; SET ROLE pg_monitor',
  );
  expect(await readPlace(client as never, 'events')).toMatchObject({ schema: 'events', systemIdentifier: null });
  await client.query('ROLLBACK');
});

test('the stored topics are those of the group', async () => {
  const { sink, schema } = openStore();
  const other = openStore({ schema, groupId: 'another' });
  await sink.migrate();
  const at = (topic: string) => [0, 1].map((partition) => ({ topic, partition, offset: 0n }));
  expect(await sink.storedTopics()).toEqual([]);
  await sink.initialize('orders', () => at('orders'));
  await sink.initialize('items', () => at('items'));
  await other.sink.initialize('others', () => at('others'));
  expect([...(await sink.storedTopics())].sort()).toEqual(['items', 'orders']);
});

test('ids of topics are stored where none is, for the group alone', async () => {
  const { sink, schema } = openStore();
  const other = openStore({ schema, groupId: 'another' });
  await sink.migrate();
  await sink.initialize('orders', () => [{ topic: 'orders', partition: 0, offset: 5n, topicId: 'known' }]);
  await sink.initialize('items', () => [{ topic: 'items', partition: 0, offset: 7n }]);
  await other.sink.initialize('items', () => [{ topic: 'items', partition: 0, offset: 9n }]);
  await sink.adoptTopicIds(
    new Map([
      ['orders', 'a'],
      ['items', 'b'],
    ]),
  );
  const stored = async (of: typeof sink, topic: string) =>
    (await of.positions([topic])).map(({ offset, topicId }) => [offset, topicId]);
  expect([await stored(sink, 'orders'), await stored(sink, 'items')]).toEqual([[[5n, 'known']], [[7n, 'b']]]);
  expect(await stored(other.sink, 'items')).toEqual([[9n, null]]);
});

test("tables that do not fit are the answer of the user's tables, by their topics", async () => {
  const misfit = new FatalError('TABLES_DO_NOT_FIT', 'the table has no key');
  const asked: (readonly string[])[] = [];
  const { sink } = openStore({
    userTables: {
      all: [],
      of: () => [],
      misfits: async (_client, topics) => {
        asked.push(topics);
        return new Map([['orders', misfit]]);
      },
    },
  });
  await sink.migrate();
  expect([...(await sink.misfits(['orders', 'items']))]).toEqual([['orders', misfit]]);
  expect(asked).toEqual([['orders', 'items']]);
});

test('a topic of a template whose tables are not known is not written to records', async () => {
  const settings = { kafka: { topics: ['named'] } };
  const { sink, schema } = openStore({ isTemplated: (topic) => topic !== 'plain', settings });
  await sink.migrate();
  const write = async (topic: string) => {
    await sink.initialize(topic, () => [{ topic, partition: 0, offset: 0n }]);
    return sink.write(aRequest(topic, 0n, ['1']));
  };
  await expect(write('templated')).rejects.toMatchObject({
    name: 'OutageError',
    reason: 'database_unknown',
    message: expect.stringContaining('the tables of templated, which a template takes, are not known'),
  });
  await write('plain');
  await write('named');
  expect(await query(`SELECT topic FROM ${schema}.records ORDER BY 1`)).toEqual([
    { topic: 'named' },
    { topic: 'plain' },
  ]);
});
