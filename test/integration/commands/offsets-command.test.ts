import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { query } from '../stack/database.ts';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { randomName } from '../stack/random-name.ts';
import { databaseEnvironment, runCommand, startCommand } from '../stack/run-command.ts';
import { sharedDatabaseUrl } from '../stack/shared-stack.ts';
import { startConsumer } from '../stack/start-consumer.ts';
import { awaitEachOnce } from '../stack/stored-rows.ts';
import { recreateTopic } from '../stack/topic-changes.ts';
import { until } from '../stack/until.ts';
import { aRequest, connect, openStore } from '../store/open-store.ts';

const ID = 'MAY9gLLuRv6PPlUO7yaqbw';
const OTHER_ID = 'QKLOJCEgTwqYQhrNM6flkg';

interface Place {
  readonly schema: string;
  readonly groupId: string;
}

const placeOf = ({ schema, groupId }: Place) => ({
  env: { ...databaseEnvironment(sharedDatabaseUrl(), schema), KAFKA_GROUP_ID: groupId },
});

/** `offsets` with these arguments, as a process of its own. */
const run = (place: Place, ...args: readonly string[]) => runCommand(['offsets', ...args], placeOf(place));

/** The same with tables of the user's own. */
const runWith = (tables: readonly object[], place: Place, ...args: readonly string[]) =>
  runCommand(['offsets', ...args], { ...placeOf(place), files: { 'application.yml': stringify({ tables }) } });

const orders = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ partition: id % 2, value: id === 0 ? '{poison' : `{"id":${id}}` }));

/** Topic, records, dead letters and offsets in their tables, of all topics. */
async function stored({ schema }: Place) {
  const counts = (table: string) => `(SELECT json_object_agg(topic, rows) FROM
    (SELECT topic, count(*) AS rows FROM ${schema}.${table} GROUP BY topic) AS counted)`;
  const [found] = await query<Record<'records' | 'letters' | 'offsets', Record<string, number>>>(
    `SELECT ${counts('records')} AS records, ${counts('dead_letters')} AS letters,
            (SELECT json_object_agg(topic || '/' || partition, next_offset || ' ' || coalesce(topic_id, '?'))
               FROM ${schema}.offsets) AS offsets`,
  );
  return found;
}

/** A topic of two partitions whose records were read by a consumer that has ended, with the id stored beside its offsets. */
async function consumed(records: number) {
  const topic = await createTopic({ partitions: 2 });
  await produce(topic, orders(records));
  const consumer = await startConsumer({ topics: [topic] });
  const { schema, groupId } = consumer;
  await awaitEachOnce({ schema, topic, records });
  consumer.kill('SIGTERM');
  await consumer.exited;
  await query(`UPDATE ${schema}.offsets SET topic_id = $1`, [ID]);
  return { topic, schema, groupId };
}

/** Two rows and a dead letter in partition 0, written without Kafka. */
async function written() {
  const { schema, groupId, sink } = openStore();
  const topic = randomName('topic');
  await sink.migrate();
  await sink.initialize(topic, () => [0, 1].map((partition) => ({ topic, partition, offset: 0n, topicId: ID })));
  await sink.write(aRequest(topic, 0n, ['{poison', '{}', '{}']));
  return { topic, schema, groupId, sink };
}

const RENAMED = /its rows before are those of the topic (\S+@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ): (.*)\n/;

describe('accept-topic', () => {
  test('forgets the id that is stored, and a consumer goes on at the stored offsets', async () => {
    const place = await consumed(6);
    const { topic, schema, groupId } = place;
    expect(await run(place, 'accept-topic', topic)).toEqual({
      code: 0,
      stderr: '',
      stdout:
        `${topic} of group ${groupId}: the next consumer takes the topic id that it finds, and goes on at the stored offsets\n` +
        `  partition 0 at 3, topic id was ${ID}\n  partition 1 at 3, topic id was ${ID}\n`,
    });
    expect((await stored(place))?.offsets).toEqual({ [`${topic}/0`]: '3 ?', [`${topic}/1`]: '3 ?' });
    await produce(topic, orders(2));
    await startConsumer({ topics: [topic], schema, groupId });
    await awaitEachOnce({ schema, topic, records: 8 });
  });

  test('lets the next writer store its own, and none before', async () => {
    const { topic, sink, ...place } = await written();
    const request = { ...aRequest(topic, 3n, ['{}']), topicId: OTHER_ID };
    expect(await sink.write(request)).toEqual({ kind: 'fenced' });
    await run(place, 'accept-topic', topic);
    expect(await sink.write(request)).toMatchObject({ kind: 'committed' });
    expect((await stored(place))?.offsets).toMatchObject({ [`${topic}/0`]: `4 ${OTHER_ID}` });
  });

  test('changes nothing a second time, nor with --dry-run', async () => {
    const place = await written();
    const before = await stored(place);
    const tried = await run(place, 'accept-topic', place.topic, '--dry-run');
    expect(tried).toMatchObject({ code: 0, stdout: expect.stringContaining(`topic id was ${ID}`) });
    expect(tried.stdout).toMatch(/nothing was changed \(--dry-run\)\n$/);
    expect(await stored(place)).toEqual(before);
    const first = await run(place, 'accept-topic', place.topic);
    expect(`${first.stdout}nothing was changed (--dry-run)\n`).toBe(tried.stdout);
    const again = await run(place, 'accept-topic', place.topic);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('no topic id is stored') });
  });
});

describe('begin-again', () => {
  test('a topic that was created again is read from its beginning, and the rows before keep their accounts', async () => {
    const place = await consumed(7);
    const { topic, schema, groupId } = place;
    await recreateTopic(topic, { partitions: 2 });
    await produce(topic, orders(11));
    const { code, stdout } = await run(place, 'begin-again', topic, '--rename-rows');
    const [, renamed = '', counts] = RENAMED.exec(stdout) ?? [];
    expect({ code, counts }).toEqual({
      code: 0,
      counts: '1 in dead_letters, 0 in discarded_letters, 0 in gaps, 6 in records',
    });
    expect(stdout).toContain(
      `  partition 0 was at 4, topic id was ${ID}\n  partition 1 was at 3, topic id was ${ID}\n`,
    );
    await startConsumer({ topics: [topic], schema, groupId });
    await awaitEachOnce({ schema, topic, records: 11 });
    expect(await stored(place)).toMatchObject({
      records: { [topic]: 10, [renamed]: 6 },
      letters: { [topic]: 1, [renamed]: 1 },
      offsets: {
        [`${renamed}/0`]: `4 ${ID}`,
        [`${renamed}/1`]: `3 ${ID}`,
        [`${topic}/0`]: expect.stringMatching(/^6 /),
        [`${topic}/1`]: expect.stringMatching(/^5 /),
      },
    });
  });

  longTest('beside a running consumer, whose next write is turned away, every record is read again once', async () => {
    const topic = await createTopic({ partitions: 2 });
    await produce(topic, orders(500));
    const consumer = await startConsumer({ topics: [topic] });
    const { schema } = consumer;
    await awaitEachOnce({ schema, topic, records: 500 });
    const [, renamed = ''] = RENAMED.exec((await run(consumer, 'begin-again', topic, '--rename-rows')).stdout) ?? [];
    await produce(topic, orders(10));
    await awaitEachOnce({ schema, topic, records: 510 });
    await awaitEachOnce({ schema, topic: renamed, records: 500 });
    consumer.kill('SIGTERM');
    expect(await consumer.exited).toMatchObject({ code: 0 });
  });

  test('is refused while rows have the keys of what would be read, and says how many', async () => {
    const place = await written();
    const before = await stored(place);
    const { code, stdout, stderr } = await run(place, 'begin-again', place.topic);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      '1 in dead_letters, 0 in discarded_letters, 0 in gaps, 2 in records. --rename-rows gives them',
    );
    expect(await stored(place)).toEqual(before);
  });

  longTest(
    'needs no --rename-rows where the rows were moved away, and begins again as often as it is told',
    async () => {
      const place = await consumed(5);
      const { topic, schema, groupId } = place;
      await query(`TRUNCATE ${schema}.records, ${schema}.dead_letters`);
      for (const id of [ID, null]) {
        const was = id === null ? 'was at 0, no topic id was stored' : `was at 3, topic id was ${id}`;
        const told = { code: 0, stdout: expect.stringContaining(`  partition 0 ${was}\n`) };
        expect(await run(place, 'begin-again', topic)).toMatchObject(told);
      }
      await startConsumer({ topics: [topic], schema, groupId });
      await awaitEachOnce({ schema, topic, records: 5 });
    },
  );

  test('--dry-run changes nothing', async () => {
    const place = await written();
    const before = await stored(place);
    const { code, stdout } = await run(place, 'begin-again', place.topic, '--rename-rows', '--dry-run');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(RENAMED) });
    expect(stdout).toMatch(/nothing was changed \(--dry-run\)\n$/);
    expect(await stored(place)).toEqual(before);
  });

  test('of a topic that fills tables of the user is refused with what becomes of each, unless their rows may stay', async () => {
    const { sink: _, ...place } = await written();
    const { topic, schema, groupId } = place;
    await query(
      `INSERT INTO ${schema}.filled_tables VALUES ($1, $2, '', 'public.before'), ($1, $2, '', 'records'),
      ('another', $2, '', 'public.foreign'), ($1, 'another', '', 'public.foreign')`,
      [groupId, topic],
    );
    const tables = [
      { topic, table: 'public.orders' },
      { topic: [topic, 'others'], table: 'public.sums', key: ['id', 'day'] },
      { topic, table: 'public.people', key: 'primary' },
      { topic: 'others', table: 'public.others' },
    ];
    const lines = [
      'public.orders: its rows stay, and the topic is appended to them a second time',
      'public.sums: its rows stay, and the topic is applied to them a second time, by the key id, day',
      'public.people: its rows stay, and the topic is applied to them a second time, by the primary key',
      'public.before: its rows stay; these settings do not name it',
    ];
    const before = await stored(place);
    const both = await runWith(tables, place, 'begin-again', topic);
    expect({ ...both, stderr: '' }).toEqual({ code: 1, stdout: '', stderr: '' });
    expect(both.stderr).toContain(
      '1 in dead_letters, 0 in discarded_letters, 0 in gaps, 2 in records. --rename-rows gives them',
    );
    expect(both.stderr).toContain(`fills tables of your own: ${lines.join('; ')}. --keep-table-rows consents`);
    const one = await runWith(tables, place, 'begin-again', topic, '--rename-rows');
    expect(one).toMatchObject({ code: 1, stdout: '', stderr: expect.not.stringContaining('in records') });
    expect(await stored(place)).toEqual(before);
    const { code, stdout } = await runWith(tables, place, 'begin-again', topic, '--rename-rows', '--keep-table-rows');
    expect({ code, told: stdout.split('\n').filter((line) => line.startsWith('table ')) }).toEqual({
      code: 0,
      told: lines.map((line) => `table ${line}`),
    });
    expect((await stored(place))?.offsets).toMatchObject({ [`${topic}/0`]: '0 ?' });
  });

  test.each([
    ['a replay', 'dead_letters', "DELETE FROM dead_letters; INSERT INTO records VALUES ($1, 0, 0, NULL, NULL, '[]')"],
    [
      'a consumer',
      'offsets',
      "UPDATE offsets SET next_offset = 4; INSERT INTO records VALUES ($1, 0, 3, NULL, NULL, '[]')",
    ],
  ])(
    'waits for the transaction of %s under way, whose row is then among those that are renamed',
    async (_, table, sql) => {
      const place = await written();
      const { topic, schema } = place;
      const other = await connect();
      await other.query(`SET search_path TO ${schema}; BEGIN; SELECT FROM ${table} FOR UPDATE`);
      const command = startCommand(['offsets', 'begin-again', topic, '--rename-rows'], placeOf(place));
      const ended = text(command.stdout);
      await until('the command to wait for the transaction', async () => {
        const waiting = await query(
          "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'stream-consumer' AND query LIKE $1",
          [`%"${schema}".${table}%`],
        );
        return waiting.length > 0 ? true : undefined;
      });
      await other.query(`${sql.replace('$1', `'${topic}'`)}; COMMIT`);
      const [, renamed = ''] = RENAMED.exec(await ended) ?? [];
      expect(Object.keys((await stored(place))?.records ?? {})).toEqual([renamed]);
    },
  );
});

test.each([['accept-topic'], ['begin-again']])(
  '%s of a topic without offsets is refused, with those there are',
  async (action) => {
    const place = await written();
    const missing = await run(place, action, 'no-such-topic');
    expect(missing).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`it has offsets of ${place.topic}.`),
    });
    const elsewhere = await run({ ...place, groupId: 'another' }, action, place.topic);
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('it has offsets of no topic.') });
  },
);

test('tables that this version has not upgraded yet are told, and left alone', async () => {
  const place = { schema: randomName('schema'), groupId: 'g' };
  const { code, stderr } = await run(place, 'accept-topic', 'orders');
  expect(code).toBe(1);
  expect(stderr).toContain('has none of our tables');
  expect(stderr).toContain('stream-consumer migrate');
});
