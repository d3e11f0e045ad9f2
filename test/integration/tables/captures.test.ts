import { describe, expect, test } from '@jest/globals';
import { escapeIdentifier } from 'pg';
import { type Capture, capturedRecords, sourceTable } from './captures.ts';
import { openKeyed } from './open-keyed.ts';

const TYPES = `CREATE EXTENSION IF NOT EXISTS hstore; CREATE EXTENSION IF NOT EXISTS citext;
  CREATE TYPE ?.mood AS ENUM ('sad', 'ok', 'happy'); CREATE DOMAIN ?.posint AS int CHECK (VALUE > 0)`;

const KEYS: Readonly<Record<string, readonly string[]>> = { items: ['order_id', 'line'] };
const keyOf = (table: string): readonly string[] => KEYS[table] ?? ['id'];

/** The replica's columns, as the source has them in the end; a default of the source's that is there, too. */
function ddlOf(table: string): string {
  const columns = Object.entries(sourceTable(table).columns).map(([name, type]) => {
    const own = type.replace(/^(mood|posint)/, '?.$1');
    return `${escapeIdentifier(name)} ${own}${name === 'seen' ? ' NOT NULL DEFAULT 7' : ''}`;
  });
  return `${TYPES}; CREATE TABLE ?.replica (${columns.join(', ')}, PRIMARY KEY (${keyOf(table).join(', ')}))`;
}

type Cells = Readonly<Record<string, Readonly<Record<string, string | null>>>>;

async function replicaOf(capture: Capture, table: string, columns: Readonly<Record<string, unknown>>, cut: number) {
  const entry = { table: '?.replica', key: keyOf(table), envelope: capture === 'flat' ? 'debezium-flat' : 'debezium' };
  const settings = { deadLetters: { maxRatio: 1 } };
  const store = await openKeyed({ ddl: ddlOf(table), tables: [{ ...entry, columns }], settings });
  const records = capturedRecords(capture, table);
  for (let from = 0; from < records.length; from += cut) {
    await store.write(records.slice(from, from + cut));
  }
  const names = Object.keys(sourceTable(table).columns);
  const texts = names.map((name) => `${escapeIdentifier(name)}::text AS ${escapeIdentifier(name)}`);
  const rows = await store.run(`SET TimeZone TO UTC; SELECT 1`).then(() => store.run(`SELECT ${texts.join(', ')} FROM ?.replica`));
  return { rows: rows as readonly Readonly<Record<string, string | null>>[], letters: await store.letters() };
}

/** The rows of the source, but for these cells by row and column. */
function expectedRows(table: string, differences: Cells, without: readonly string[] = []) {
  const { columns, rows } = sourceTable(table);
  const names = Object.keys(columns);
  return rows
    .map((row) => Object.fromEntries(names.map((name, nth) => [name, row[nth] ?? null])))
    .filter(({ id }) => !without.includes(String(id)))
    .map((row) => ({ ...row, ...differences[String(row['id'])] }));
}

const sorted = (rows: readonly Readonly<Record<string, unknown>>[]) =>
  [...rows].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));

describe('probe', () => {
  const UNITS = {
    n: { from: 'n', as: 'variable-decimal' }, n102: { from: 'n102', as: 'decimal(2)' }, n300: { from: 'n300', as: 'decimal(0)' },
    m: { from: 'm', as: 'decimal(2)' }, js: { from: 'js', as: 'json' }, jb: { from: 'jb', as: 'json' }, hs: { from: 'hs', as: 'json' },
    dt: { from: 'dt', as: 'epoch-days' }, tm: { from: 'tm', as: 'time-micros' }, tm3: { from: 'tm3', as: 'time-millis' },
    ts: { from: 'ts', as: 'epoch-micros' }, ts3: { from: 'ts3', as: 'epoch-millis' }, iv: { from: 'iv', as: 'duration-micros' },
    b8: { from: 'b8', as: 'bits' }, vb: { from: 'vb', as: 'bits' }, pt: { from: 'pt', as: 'point' }, na: { from: 'na', as: 'decimal(2)' },
    da: { from: 'da', as: 'epoch-days' }, ja: { from: 'ja', as: 'json' } };
  const pick = (...names: (keyof typeof UNITS)[]) => Object.fromEntries(names.map((n) => [n, UNITS[n]]));
  test.each(['json', 'schema', 'flat', 'iso'] as const)('%s', async (capture) => {
    const all = capture === 'schema' ? {} : capture === 'iso' ? pick('js', 'jb', 'hs', 'ja', 'b8', 'vb', 'pt') : UNITS;
    for (const [table, cols] of [['all_types', { ...all, bx: false, im: false, i2: false, dt: false }], ['orders', capture === 'schema' || capture === 'iso' ? {} : { amount: { from: 'amount', as: 'decimal(2)' } }], ['items', {}],
      ['toasty', capture === 'schema' ? {} : { ...pick('hs'), doc: { from: 'doc', as: 'json' }, ...(capture !== 'iso' && { n: UNITS.n }) }], ['toasty_full', {}]] as const) {
      const { rows, letters } = await replicaOf(capture, table, cols, 1000);
      const want = sorted(expectedRows(table, {}));
      const got = sorted(rows);
      console.log(capture, table, JSON.stringify(letters));
      for (const w of want) {
        const key = keyOf(table).map((k) => (w as any)[k]).join();
        const g = got.find((r) => keyOf(table).map((k) => r[k]).join() === key);
        if (!g) { console.log(capture, table, 'missing', key); continue; }
        for (const c of Object.keys(w)) if ((w as any)[c] !== g[c]) console.log(capture, table, key, c, 'want', (w as any)[c], 'got', g[c]);
      }
      if (got.length !== want.length) console.log(capture, table, got.length, want.length);
    }
  });
});
