import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ChangeSource } from '../../../dev/change-events/change-source.ts';
import { type SourceTable, topicOf } from '../../../dev/change-events/source-tables.ts';
import type { ChangeTopics } from '../../../dev/stack/connect/debezium-source.ts';
import type { ConnectProperties } from '../../../dev/stack/connect/local-connect.ts';
import { kafkaClient } from '../stack/kafka-client.ts';
import { FINDINGS, insertLost, LOSSES, type Lost, type Mode, NO_ROW, placeOf, STREAMED } from './lost-values.ts';
import { Replica } from './replica.ts';
import { ownTopics, startSource, WITH_SCHEMA, WITHOUT_SCHEMA } from './source.ts';

/** Large values of types for which Debezium has no placeholder. */
const LARGE = ['amount', 'amounts', 'flags', 'moments', 'days', 'body'] as const;
const WIDE_COLUMNS = [
  ...['amount numeric', 'amounts numeric[]', 'flags boolean[]', 'moments timestamptz[]', 'days date[]'],
  'body text',
];
const wide = (name: string): SourceTable => ({
  name,
  columns: ['id integer', 'title text', ...WIDE_COLUMNS],
  key: ['id'],
  large: LARGE,
});
const WIDE = wide('wide');
const WIDE_FULL: SourceTable = { ...wide('wide_full'), isFull: true };
const SWAPS: SourceTable = { name: 'swaps', columns: ['id integer', 'name text'], key: ['id'], isFull: true };
/** Their records are keyed by another column than the primary key, whose old value is in the log with FULL alone. */
const TAGGED: SourceTable = { name: 'tagged', columns: ['id integer', 'tag text'], key: ['tag'] };
const TAGGED_FULL: SourceTable = { ...TAGGED, name: 'tagged_full', isFull: true };
const TABLES = [LOSSES, WIDE, WIDE_FULL, SWAPS, TAGGED, TAGGED_FULL];

const topicsOf = (kind: typeof WITH_SCHEMA | typeof WITHOUT_SCHEMA, properties: ConnectProperties) =>
  ownTopics({ ...kind, properties: { ...kind.properties, ...properties } }, 1);

/** Settings of Debezium and Connect that lose something, as they are unless somebody sets them. */
const CARELESS = {
  'key.converter.schemas.enable': true,
  'value.converter.schemas.enable': true,
  'value.converter.replace.null.with.default': true,
  'time.precision.mode': 'adaptive',
  'interval.handling.mode': 'numeric',
};

/** What the documents' connector sets, but for its names: where it reads, and where it writes. */
function documentedProperties(): ConnectProperties {
  const file = join(import.meta.dirname, '..', '..', '..', 'docs', 'debezium.md');
  const [, block = ''] = /```properties\n([^`]*)```/.exec(readFileSync(file, 'utf8')) ?? [];
  const settings = block.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^([a-z.]+)=(.*)$/.exec(line) ?? [];
    return /converter|^connector\.class$|^plugin|mode$/.test(name) && name !== 'publication.autocreate.mode'
      ? [[name, value] as const]
      : [];
  });
  return Object.fromEntries(settings);
}

const TOPICS = {
  typed: topicsOf(WITH_SCHEMA, { 'include.unknown.datatypes': true, 'publication.name': 'of_roots' }),
  iso: topicsOf(WITHOUT_SCHEMA, { 'message.key.columns': 'public.tagged:tag;public.tagged_full:tag' }),
  careless: topicsOf(WITH_SCHEMA, { ...CARELESS, 'decimal.handling.mode': 'double' }),
  documented: ownTopics({ hasSchemas: false, properties: { ...CARELESS, ...documentedProperties() } }, 1),
} as const satisfies Readonly<Record<Mode, ChangeTopics>>;

const SET_UP_TIMEOUT_MS = 300_000;

let source: ChangeSource;
const replicas = new Map<Mode, Replica>();

const series = (element: string, to: number): string =>
  `(SELECT array_agg(${element}) FROM generate_series(1, ${to}) AS i)`;
const LARGE_VALUES = [
  `(SELECT string_agg(1 + i % 9 || '', '') FROM generate_series(1, 9000) AS i)::numeric`,
  series('i * 1.5', 800),
  series('i % 2 = 0', 3000),
  series(`timestamptz '2026-01-01 00:00+00' + i * interval '1 second'`, 400),
  series(`date '2026-01-01' + i`, 800),
  `(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 80) AS i)`,
].join(', ');

/** The text of a column in both of its rows in a replica. */
async function seen(mode: Mode, name: Lost) {
  const rows = await replicaOf(mode).rows('losses', `id, ${name}::text AS text`);
  const textAt = (id: number) => {
    const row = rows.find((each) => each['id'] === id);
    return row === undefined ? NO_ROW : row['text'];
  };
  const nth = placeOf(name);
  return { snapshot: textAt(nth), stream: textAt(nth + STREAMED) };
}

function replicaOf(mode: Mode): Replica {
  const replica = replicas.get(mode);
  if (replica === undefined) {
    throw new Error(`there is no replica of the topics ${mode}`);
  }
  return replica;
}

/** Events in the topics of a partitioned table and of its partition. */
async function eventsOfParts(mode: Mode) {
  const admin = kafkaClient().admin();
  await admin.connect();
  const eventsOf = async (table: string) =>
    (await admin.fetchTopicOffsets(topicOf(TOPICS[mode].prefix, table)))[0]?.high;
  const events = { parts: await eventsOf('parts'), partition: await eventsOf('parts_all') };
  await admin.disconnect();
  return events;
}

/** Columns that dead letters of a table name. */
async function refusedColumns(mode: Mode, table: string): Promise<readonly (string | null)[]> {
  const letters = await replicaOf(mode).deadLetters();
  const ofTable = letters.filter(({ topic }) => topic.endsWith(`.${table}`));
  return [...new Set(ofTable.map(({ reason, column }) => `${column}: ${reason}`))];
}

async function makeChanges(): Promise<void> {
  await source.client.query(insertLost(STREAMED));
  await source.client.query(`UPDATE wide SET title = 'changed'; UPDATE wide_full SET title = 'changed'`);
  await source.client.query('UPDATE wide SET id = 3 WHERE id = 2; UPDATE wide_full SET id = 3 WHERE id = 2');
  await source.client.query('UPDATE swaps SET id = 3 - id');
  await source.client.query('DELETE FROM tagged; DELETE FROM tagged_full');
  await source.client.query('INSERT INTO parts VALUES (2)');
}

/** Registers the tests of what Debezium loses, and what keeps it. */
export function testSourceLosses(): void {
  beforeAll(startAll, SET_UP_TIMEOUT_MS);
  afterAll(() => Promise.all([...replicas.values()].map((replica) => replica.remove())));

  test.each(FINDINGS)('%s (%s, %s)', async (_, mode, name, snapshot, stream) => {
    expect(await seen(mode, name)).toEqual({ snapshot, stream });
  });

  test('all else of these is a dead letter that names its column', async () => {
    expect(await refusedColumns('typed', 'losses')).toEqual(
      [
        ...['endless_day', 'area', 'outline', 'circle', 'line', 'segment', 'path', 'ranges', 'pair'],
        ...['json_path', 'position'],
      ].map((column) => `${column}: value_does_not_fit`),
    );
  });

  test('large values without a placeholder are NULL once another column changes', async () => {
    const [row] = await replicaOf('typed').rows('wide', WIDE_SHOWN);
    expect(row).toEqual({
      id: 1,
      title: 'changed',
      amount: null,
      amounts: null,
      flags: null,
      moments: null,
      days: 800,
      body: 2_560,
    });
    expect(await replicaOf('iso').rows('wide', 'cardinality(days) AS days')).toEqual([{ days: null }]);
  });

  test('large values stay where the whole old row is in the log', async () => {
    const large = { amount: 9_000, amounts: 800, flags: 3_000, moments: 400, days: 800, body: 2_560 };
    expect(await replicaOf('typed').rows('wide_full', WIDE_SHOWN)).toEqual([
      { id: 1, title: 'changed', ...large },
      { id: 3, title: 'changed', ...large },
    ]);
  });

  test('a row with a large value that did not change is a dead letter where its key changes', async () => {
    expect(await refusedColumns('typed', 'wide')).toEqual(['days: missing_value']);
    expect(await replicaOf('typed').rows('wide', 'id')).toEqual([{ id: 1 }]);
    expect(await refusedColumns('typed', 'wide_full')).toEqual([]);
  });

  test('a swap of two keys in one statement loses a row', async () => {
    expect(await replicaOf('typed').rows('swaps', 'id, name')).toEqual([{ id: 1, name: 'two' }]);
  });

  test('a partition has a topic of its own, and the snapshot alone sends its rows to that of its table, too', async () => {
    expect(await eventsOfParts('iso')).toEqual({ parts: '1', partition: '2' });
  });

  test('published by its root, all rows are in the topic of the table, and those of the snapshot in both', async () => {
    expect(await eventsOfParts('typed')).toEqual({ parts: '2', partition: '1' });
  });

  test('a key of other columns deletes where the whole old row is in the log alone', async () => {
    expect(await replicaOf('iso').rows('tagged')).toEqual([{ id: 1, tag: 'a' }]);
    expect(await replicaOf('iso').rows('tagged_full')).toEqual([]);
  });
}

const WIDE_SHOWN =
  'id, title, length(amount::text) AS amount, cardinality(amounts) AS amounts, cardinality(flags) AS flags, cardinality(moments) AS moments, cardinality(days) AS days, length(body) AS body';

async function startAll(): Promise<void> {
  source = await startSource(TABLES, Object.values(TOPICS), async (client) => {
    await client.query('CREATE PUBLICATION of_roots FOR ALL TABLES WITH (publish_via_partition_root = true)');
    for (const table of ['tagged', 'tagged_full']) {
      await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey, ADD PRIMARY KEY (id);
        INSERT INTO ${table} VALUES (1, 'a')`);
    }
    await client.query('ALTER TABLE swaps DROP CONSTRAINT swaps_pkey, ADD PRIMARY KEY (id) DEFERRABLE');
    await client.query(`${insertLost(0)}; INSERT INTO swaps VALUES (1, 'one'), (2, 'two')`);
    await client.query(`CREATE TABLE parts (id integer PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE parts_all PARTITION OF parts DEFAULT; INSERT INTO parts VALUES (1)`);
    for (const table of ['wide', 'wide_full']) {
      await client.query(`INSERT INTO ${table} VALUES (1, 'a', ${LARGE_VALUES}), (2, 'b', ${LARGE_VALUES})`);
    }
  });
  for (const [mode, topics] of Object.entries(TOPICS) as readonly [Mode, ChangeTopics][]) {
    replicas.set(mode, await Replica.start(TABLES, topics));
  }
  await makeChanges();
  for (const replica of replicas.values()) {
    await replica.finish(source);
  }
}
