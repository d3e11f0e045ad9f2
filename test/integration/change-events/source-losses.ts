import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ChangeSource } from '../../../dev/change-events/change-source.ts';
import { type SourceTable, topicOf } from '../../../dev/change-events/source-tables.ts';
import type { ChangeTopics } from '../../../dev/stack/connect/debezium-source.ts';
import type { ConnectProperties } from '../../../dev/stack/connect/local-connect.ts';
import { kafkaClient } from '../stack/kafka-client.ts';
import { ownTopics, Replica, startSource, WITH_SCHEMA, WITHOUT_SCHEMA } from './replica.ts';

/** A column for each thing that Debezium loses, and a value that it loses: what no sink can repair. */
const LOST = {
  old_day: ['date', "'1582-10-10'"],
  ancient_day: ['date', "'0044-03-15 BC'"],
  endless_day: ['date', "'infinity'"],
  zoned_clock: ['timetz', "'13:14:15.5+02'"],
  midnight: ['time', "'24:00'"],
  endless: ['timestamp', "'infinity'"],
  far: ['timestamp', "'294276-12-31'"],
  nearer: ['timestamp', "'294250-01-01'"],
  matrix: ['integer[]', "'{{1,2},{3,4}}'"],
  bits: ['varbit', "B'0011'"],
  identifier: ['name', "'a_name'"],
  exact: ['numeric', "'1.10'"],
  defaulted: ["text DEFAULT 'none'", 'NULL'],
  defaulted_at: ['timestamptz DEFAULT now()', 'NULL'],
  cents: ['numeric(20,2)', "'123456789012345678.90'"],
  span: ['interval', "'1 mon'"],
  area: ['box', "'(1,1),(0,0)'"],
  outline: ['polygon', "'((0,0),(1,0),(1,1))'"],
  ranges: ['int4multirange', "'{[1,3),[5,7)}'"],
  pair: ['SCHEMA.pair', "'(1,a)'"],
  search: ['tsquery', "'fat & cat'"],
} as const;

type Lost = keyof typeof LOST;
const NAMES = Object.keys(LOST) as readonly Lost[];
/** The row of a thing that is streamed has this more than that of the snapshot. */
const STREAMED = 100;
/** A row of the stream alone: a snapshot with it would fail. */
const NAN_ROW = 1_000;

const LOSSES: SourceTable = {
  name: 'losses',
  types: 'CREATE TYPE SCHEMA.pair AS (a integer, b text);',
  columns: ['id integer', ...NAMES.map((name) => `${name} ${LOST[name][0]}`)],
  key: ['id'],
  units: { bits: 'bits' },
};

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

const TOPICS = {
  typed: topicsOf(WITH_SCHEMA, { 'include.unknown.datatypes': true, 'publication.name': 'of_roots' }),
  iso: topicsOf(WITHOUT_SCHEMA, { 'message.key.columns': 'public.tagged:tag;public.tagged_full:tag' }),
  /** As Debezium and Connect are without a setting of theirs. */
  careless: topicsOf(WITH_SCHEMA, {
    'value.converter.replace.null.with.default': true,
    'interval.handling.mode': 'numeric',
    'decimal.handling.mode': 'double',
  }),
} as const;
type Mode = keyof typeof TOPICS;

const SET_UP_TIMEOUT_MS = 300_000;

let source: ChangeSource;
const replicas = new Map<Mode, Replica>();

const insertOf = (table: string, shift: number): string =>
  NAMES.map((name, nth) => `INSERT INTO ${table} (id, ${name}) VALUES (${nth + shift}, ${LOST[name][1]})`).join(';');

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

/** What is in the place of a text where the row is not in the replica. */
const NO_ROW = 'no row';

/** The text of a column in both of its rows in a replica. */
async function seen(mode: Mode, name: Lost) {
  const rows = await replicaOf(mode).rows('losses', `id, ${name}::text AS text`);
  const textAt = (id: number) => {
    const row = rows.find((each) => each['id'] === id);
    return row === undefined ? NO_ROW : row['text'];
  };
  const nth = NAMES.indexOf(name);
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
  await source.client.query(insertOf('losses', STREAMED));
  await source.client.query(`UPDATE wide SET title = 'changed'; UPDATE wide_full SET title = 'changed'`);
  await source.client.query('UPDATE wide SET id = 3 WHERE id = 2; UPDATE wide_full SET id = 3 WHERE id = 2');
  await source.client.query('UPDATE swaps SET id = 3 - id');
  await source.client.query('DELETE FROM tagged; DELETE FROM tagged_full');
  await source.client.query(`INSERT INTO parts VALUES (2); INSERT INTO losses (id, exact) VALUES (${NAN_ROW}, 'NaN')`);
}

/** What was lost: in words, in which topics, of which column, and what the replica has instead of the value. */
const FINDINGS: readonly (readonly [string, Mode, Lost, unknown, unknown])[] = [
  [
    'a day before the Gregorian calendar is ten days late in a snapshot alone',
    'typed',
    'old_day',
    '1582-10-20',
    '1582-10-10',
  ],
  ['a day before year 1 is one after it in a snapshot alone', 'iso', 'ancient_day', '0044-03-15', '0044-03-15 BC'],
  ['an endless day is another number each time, which no date has', 'typed', 'endless_day', NO_ROW, NO_ROW],
  ['and text that is no date without a schema', 'iso', 'endless_day', NO_ROW, NO_ROW],
  ['a time of day loses its zone, and is that of UTC', 'typed', 'zoned_clock', '11:14:15.5+00', '11:14:15.5+00'],
  ['the end of the day is its beginning as ISO text', 'iso', 'midnight', '00:00:00', '00:00:00'],
  ['and stays with a schema', 'typed', 'midnight', '24:00:00', '24:00:00'],
  ['an endless time is a time as ISO text, which PostgreSQL refuses', 'iso', 'endless', NO_ROW, NO_ROW],
  ['and stays with a schema', 'typed', 'endless', 'infinity', 'infinity'],
  ['a time beyond the microseconds of an int64 is endless', 'typed', 'far', 'infinity', 'infinity'],
  ['and stays as ISO text', 'iso', 'nearer', '294250-01-01 00:00:00', '294250-01-01 00:00:00'],
  ['and stays as ISO text', 'iso', 'far', '294276-12-31 00:00:00', '294276-12-31 00:00:00'],
  ['a list of lists has NULL for each list', 'iso', 'matrix', '{NULL,NULL}', '{NULL,NULL}'],
  ['bits of any number have no zeros in front', 'typed', 'bits', '11', '11'],
  ['a name is NULL in the stream', 'iso', 'identifier', 'a_name', null],
  ['and is there with unknown types included', 'typed', 'identifier', 'a_name', 'a_name'],
  ['a number without a scale has no zeros at its end where it is precise', 'typed', 'exact', '1.1', '1.1'],
  ['and has them as text', 'iso', 'exact', '1.10', '1.10'],
  ['NULL is the default of its column where the converter replaces it', 'careless', 'defaulted', 'none', 'none'],
  ['and now() is 1970', 'careless', 'defaulted_at', '1970-01-01 00:00:00+00', '1970-01-01 00:00:00+00'],
  ['and is NULL where it does not', 'iso', 'defaulted_at', null, null],
  ['and is NULL where it does not', 'iso', 'defaulted', null, null],
  ['a number is rounded where it is a double', 'careless', 'cents', '123456789012345680.00', '123456789012345680.00'],
  ['and is exact where it is precise', 'typed', 'cents', '123456789012345678.90', '123456789012345678.90'],
  ['a month is 30.44 days where an interval is a number', 'careless', 'span', '730:30:00', '730:30:00'],
  ['and is a month as text', 'typed', 'span', '1 mon', '1 mon'],
  ['a box is refused', 'typed', 'area', NO_ROW, NO_ROW],
  ['a polygon is refused', 'typed', 'outline', NO_ROW, NO_ROW],
  ['a list of ranges is not sent', 'iso', 'ranges', null, null],
  ['a list of ranges is refused where unknown types are included', 'typed', 'ranges', NO_ROW, NO_ROW],
  ['a composite value is not sent', 'iso', 'pair', null, null],
  ['a composite value is refused where unknown types are included', 'typed', 'pair', NO_ROW, NO_ROW],
  ['a query of words is not sent', 'iso', 'search', null, null],
];

/** Registers the tests of what Debezium loses, and what keeps it. */
export function testSourceLosses(): void {
  beforeAll(startAll, SET_UP_TIMEOUT_MS);
  afterAll(() => Promise.all([...replicas.values()].map((replica) => replica.remove())));

  test.each(FINDINGS)('%s (%s, %s)', async (_, mode, name, snapshot, stream) => {
    expect(await seen(mode, name)).toEqual({ snapshot, stream });
  });

  test('all else of these is a dead letter that names its column', async () => {
    expect(await refusedColumns('typed', 'losses')).toEqual(
      ['endless_day', 'area', 'outline', 'ranges', 'pair'].map((column) => `${column}: value_does_not_fit`),
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
    expect(await refusedColumns('typed', 'wide')).toEqual(['body: missing_value']);
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

  test('NaN is NULL in the stream where numbers are precise, and NaN as text', async () => {
    const exactOf = async (mode: Mode) => {
      const rows = await replicaOf(mode).rows('losses', 'id, exact::text AS text');
      return rows.find(({ id }) => id === NAN_ROW)?.['text'];
    };
    expect([await exactOf('typed'), await exactOf('iso')]).toEqual([null, 'NaN']);
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
    await client.query(`${insertOf('losses', 0)}; INSERT INTO swaps VALUES (1, 'one'), (2, 'two')`);
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
