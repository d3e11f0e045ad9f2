import { beforeAll, describe, expect, test } from '@jest/globals';
import { escapeIdentifier } from 'pg';
import { query } from '../stack/database.ts';
import { randomName } from '../stack/random-name.ts';
import { type Capture, capturedRecords, capturedSchemas, sourceTable } from './captures.ts';
import { openKeyed } from './open-keyed.ts';

/** Another test file puts an extension into a schema that it drops. */
const database = randomName('captures');

beforeAll(() => query(`CREATE DATABASE ${database}`));

const TYPES = `CREATE EXTENSION IF NOT EXISTS hstore; CREATE EXTENSION IF NOT EXISTS citext;
  CREATE TYPE ?.mood AS ENUM ('sad', 'ok', 'happy'); CREATE DOMAIN ?.posint AS int CHECK (VALUE > 0)`;

const keyOf = (table: string): readonly string[] => (table === 'items' ? ['order_id', 'line'] : ['id']);

/** The replica's columns, as the source has them in the end, with the default that the source had given one. */
function ddlOf(table: string, names: readonly string[]): string {
  const columns = names.map((name) => {
    const type = sourceTable(table).columns[name]?.replace(/^(mood|posint)/, '?.$1');
    return `${escapeIdentifier(name)} ${type}${name === 'seen' ? ' NOT NULL DEFAULT 7' : ''}`;
  });
  return `${TYPES}; CREATE TABLE ?.replica (${columns.join(', ')}, PRIMARY KEY (${keyOf(table).join(', ')}))`;
}

type Row = Readonly<Record<string, string | null>>;

const inOrder = (rows: readonly Row[]): readonly Row[] =>
  [...rows].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

interface Replica {
  readonly capture: Capture;
  readonly table: string;
  readonly columns?: Readonly<Record<string, unknown>>;
  /** @default all */
  readonly names?: readonly string[];
}

const FLAT: readonly Capture[] = ['flat', 'avroflat'];
const AVRO: readonly Capture[] = ['avro', 'avroflat'];

const envelopeOf = (capture: Capture): string => (FLAT.includes(capture) ? 'debezium-flat' : 'debezium');

const formatOf = (capture: Capture) =>
  AVRO.includes(capture) ? { format: { key: 'registry', value: 'registry' }, schemas: capturedSchemas() } : {};

/** What the records of a capture make of an empty table: all of them at once, and again one by one. */
async function replicated({ capture, table, columns = {}, names = Object.keys(sourceTable(table).columns) }: Replica) {
  const key = capture === 'json' ? 'primary' : keyOf(table);
  const entry = { table: '?.replica', key, envelope: envelopeOf(capture) };
  const store = await openKeyed({
    database,
    ddl: ddlOf(table, names),
    tables: [{ ...entry, columns }],
    partitions: 2,
    settings: { deadLetters: { maxRatio: 1 } },
    ...formatOf(capture),
  });
  const texts = names.map((name) => `${escapeIdentifier(name)}::text AS ${escapeIdentifier(name)}`);
  const outcome = async () => {
    await store.run('SET TimeZone TO UTC');
    const rows = (await store.run(`SELECT ${texts.join(', ')} FROM ?.replica`)) as readonly Row[];
    return { rows: inOrder(rows), letters: await store.letters() };
  };
  const records = capturedRecords(capture, table);
  await store.write(records);
  const atOnce = await outcome();
  await store.run('DELETE FROM ?.replica; DELETE FROM ?.dead_letters');
  for (const record of records) {
    await store.write([record], 1);
  }
  expect(await outcome()).toEqual(atOnce);
  return atOnce;
}

/** Rows of the source, but for these columns of these rows. */
function sourceRows(table: string, lost: Readonly<Record<string, Row>> = {}): readonly Row[] {
  const { columns, rows } = sourceTable(table);
  const names = Object.keys(columns);
  const all = rows.map((row): Row => Object.fromEntries(names.map((name, nth) => [name, row[nth] ?? null])));
  return inOrder(all.map((row) => ({ ...row, ...lost[String(row['id'])] })));
}

/** What a table says of the units of a column, where records have no schema. */
const unitsOf = (units: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(units).map(([from, as]) => [from, { from, as }]));

const ALWAYS = unitsOf({ js: 'json', jb: 'json', ja: 'json', hs: 'json', b8: 'bits', vb: 'bits', pt: 'point' });
const NUMBERS = {
  ...ALWAYS,
  ...unitsOf({ n: 'variable-decimal', n102: 'decimal(2)', n300: 'decimal(0)', m: 'decimal(2)', na: 'decimal(2)' }),
  ...unitsOf({ tm: 'time-micros', tm3: 'time-millis', ts: 'epoch-micros', ts3: 'epoch-millis' }),
  ...unitsOf({ da: 'epoch-days', iv: 'duration-micros' }),
};

/** No form of Debezium's has a box, a multirange, or an array of arrays; dates have a separate test. */
const UNSENT = { bx: false, im: false, i2: false, dt: false };

/** Cells of all captures, and what Debezium makes of them. */
const UNSENT_CELLS = { bx: null, im: null, i2: null, dt: null };
const OF_ALL = { ...UNSENT_CELLS, ttz: '11:14:15.5+00' };
/** Months and days of an interval become hours; a column of type name is NULL in the stream. */
const WITHOUT_ISO = {
  '1': { ...OF_ALL, iv: '10303:05:06.789' },
  '101': { ...OF_ALL, iv: '10303:05:06.789', nm: null },
  ...Object.fromEntries(['3', '103'].map((id) => [id, { ...UNSENT_CELLS, iv: '-685:30:00' }])),
  ...Object.fromEntries(['4', '104'].map((id) => [id, UNSENT_CELLS])),
};

describe('a table of all types', () => {
  test.each([
    ['json', { ...NUMBERS, ...UNSENT }],
    ['flat', { ...NUMBERS, ...UNSENT }],
    ['schema', UNSENT],
    ['avro', UNSENT],
    ['avroflat', UNSENT],
  ] as const)('is the same by %s, but for what Debezium does not say', async (capture, columns) => {
    const { rows, letters } = await replicated({ capture, table: 'all_types', columns });
    expect(rows).toEqual(sourceRows('all_types', WITHOUT_ISO));
    expect(letters).toEqual([]);
  });

  test('is the same by iso, but for 24:00 and for an infinite timestamp, whose row is a dead letter', async () => {
    const { rows, letters } = await replicated({
      capture: 'iso',
      table: 'all_types',
      columns: { ...ALWAYS, ...UNSENT },
    });
    const lost = { '1': OF_ALL, '101': OF_ALL };
    const others = Object.fromEntries(['3', '103'].map((id) => [id, { ...UNSENT_CELLS, tm: '00:00:00' }]));
    const all = sourceRows('all_types', { ...lost, ...others });
    expect(rows).toEqual(all.filter(({ id }) => id !== '4' && id !== '104'));
    expect(letters).toEqual([3, 7].map((at) => ({ at, reason: 'value_does_not_fit', column: 'ts' })));
  });
});

describe('dates that Debezium does not say', () => {
  const dates = (rows: readonly Row[]) => Object.fromEntries(rows.map(({ id, dt }) => [id, dt]));

  test.each([
    ['schema', {}],
    ['avro', {}],
    ['avroflat', {}],
    ['json', unitsOf({ dt: 'epoch-days' })],
    ['iso', {}],
  ] as const)(
    'are an infinite one, a dead letter, and by %s those before 1582 in a snapshot',
    async (capture, columns) => {
      const { rows, letters } = await replicated({ capture, table: 'all_types', columns, names: ['id', 'dt'] });
      expect(dates(rows)).toEqual({
        ...{ '1': '2026-07-15', '2': null, '3': '0044-03-15' },
        ...{ '101': '2026-07-15', '102': null, '103': '0044-03-15 BC' },
      });
      expect(letters).toEqual([3, 7].map((at) => ({ at, reason: 'value_does_not_fit', column: 'dt' })));
    },
  );
});

test.each(['schema', 'iso', 'avro', 'avroflat'] as const)('a box is a dead letter by %s', async (capture) => {
  const { rows, letters } = await replicated({ capture, table: 'all_types', names: ['id', 'bx'] });
  expect(rows.map(({ id }) => id)).toEqual(['102', '103', '104', '2', '3', '4']);
  expect(letters).toEqual([0, 4].map((at) => ({ at, reason: 'value_does_not_fit', column: 'bx' })));
});

test('a number that is none is NaN or infinite, as the source has it, and a list with one is NULL', async () => {
  const { rows } = await replicated({ capture: 'iso', table: 'specials' });
  expect(rows).toEqual(sourceRows('specials', { '1': { a: null } }));
  expect(sourceRows('specials').map(({ a }) => a)).toEqual(['{NaN,1}', null, '{}']);
});

test('a number without a schema has no unit, and a date or a time refuses it', async () => {
  const names = ['id', 'dt', 'ts'];
  const { rows, letters } = await replicated({ capture: 'json', table: 'all_types', names });
  expect(rows.map(({ id }) => id)).toEqual(['102', '2']);
  expect(letters).toEqual([0, 2, 3, 4, 6, 7].map((at) => ({ at, reason: 'value_does_not_fit', column: 'dt' })));
});

describe.each(['json', 'schema', 'flat', 'iso', 'avro', 'avroflat'] as const)('by %s', (capture) => {
  const hasSchema = capture === 'schema' || AVRO.includes(capture);
  const hasUnits = hasSchema || capture === 'iso';

  test('keys that change, swap, go and come again leave the rows of the source, and so does DDL', async () => {
    const columns = hasUnits ? {} : unitsOf({ amount: 'decimal(2)' });
    const { rows, letters } = await replicated({ capture, table: 'orders', columns });
    // A NULL became the default at the source, whose converter had the default settings.
    const lost = capture !== 'schema' && capture !== 'iso' ? { '1': { state: 'ok' }, '2': { state: 'ok' } } : {};
    expect(rows).toEqual(sourceRows('orders', lost));
    expect(letters).toEqual([]);
  });

  test('a table that was emptied keeps its rows, and the event is a dead letter', async () => {
    const { rows, letters } = await replicated({ capture, table: 'items' });
    const [after] = sourceRows('items');
    const before = { order_id: '1', line: '11', sku: 'A-1', qty: '5' };
    expect(rows).toEqual(inOrder([before, { order_id: '7', line: '7', sku: 'T', qty: '1' }, { ...after }]));
    // Flattening leaves no such event.
    expect(letters).toEqual(FLAT.includes(capture) ? [] : [{ at: 13, reason: 'truncate', column: null }]);
  });

  test('large values that the source did not send are kept, but not those of a key that changed', async () => {
    const numbers = capture === 'iso' ? {} : unitsOf({ n: 'variable-decimal' });
    const columns = hasSchema ? {} : { ...unitsOf({ doc: 'json', hs: 'json' }), ...numbers };
    const { rows, letters } = await replicated({ capture, table: 'toasty', columns });
    expect(rows).toEqual([]);
    expect(letters).toEqual([5, 6].map((at) => ({ at, reason: 'missing_value', column: 'doc' })));
  });

  test('REPLICA IDENTITY FULL sends them all', async () => {
    const { rows, letters } = await replicated({ capture, table: 'toasty_full' });
    expect({ rows, letters }).toEqual({ rows: [], letters: [] });
  });
});

test.each(['json', 'schema', 'flat', 'iso', 'avro', 'avroflat'] as const)(
  'by %s a large value of every type is kept until its row goes',
  async (capture) => {
    const names = ['id', 'small', 'doc', 'body', 'raw', 'tags', 'hs'];
    const hasSchema = capture === 'schema' || AVRO.includes(capture);
    const columns = hasSchema ? {} : unitsOf({ doc: 'json', hs: 'json' });
    const entry = { table: '?.replica', key: 'id', envelope: envelopeOf(capture) };
    const tables = [{ ...entry, columns }];
    const store = await openKeyed({ database, ddl: ddlOf('toasty', names), tables, ...formatOf(capture) });
    const [full, ...kept] = capturedRecords(capture, 'toasty').slice(0, 3);
    const large = 'SELECT doc::text, raw, tags, hs::text, body FROM ?.replica';
    await store.write(full === undefined ? [] : [full]);
    const [sent] = await store.run(large);
    await store.write(kept);
    expect(await store.run(large)).toEqual([{ ...sent, body: 'short' }]);
    const source = sourceRows('toasty').map(({ doc, hs, raw }) => ({ doc, hs, raw }));
    expect(await store.run(`SELECT doc::text, hs::text, raw::text FROM ?.replica`)).toEqual(source);
  },
);
