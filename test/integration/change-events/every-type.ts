import type { SourceTable } from '../../../dev/change-events/source-tables.ts';
import { pick, type RandomSource, randomSource } from '../../../dev/orders/random-source.ts';

/** A column: its type, values as SQL, and the unit that records without a schema need. */
interface TypedColumn {
  readonly type: string;
  readonly values: readonly string[];
  readonly unit?: string;
}

/** Beyond what a double holds exactly. */
const LONG = '12345678901234567890.123456789';

/** Every type whose values Debezium hands on as they are: what it loses has tests of its own. */
const COLUMNS: Readonly<Record<string, TypedColumn>> = {
  small: { type: 'smallint', values: ['-32768', '0', '32767'] },
  whole: { type: 'integer', values: ['-2147483648', '7', '2147483647'] },
  big: { type: 'bigint', values: ['-9223372036854775808', '9007199254740993', '9223372036854775807'] },
  flag: { type: 'boolean', values: ['true', 'false'] },
  single: { type: 'real', values: ['1.5', '-0.1', '3.4e38', '1e-45'] },
  double: { type: 'double precision', values: ['0.1', '-1e308', '5e-324', '123456789.123456789'] },
  exact: { type: 'numeric', values: [LONG, '-0.000000000000000000000000000001', '0', '1.1', '1e30'] },
  amount: { type: 'numeric(10,2)', values: ['12345678.90', '-0.01', '0'] },
  huge: { type: 'numeric(30,0)', values: ['123456789012345678901234567890', '-1'] },
  price: { type: 'money', values: ["'$1,234.56'", "'-$0.01'", "'0'"] },
  plain: { type: 'text', values: [`E'tab\\there \\\\ "q" ünï 😀\\nline'`, "''", "'\\N'", "'null'"] },
  short: { type: 'varchar(20)', values: ["'vc'", "''"] },
  padded: { type: 'char(5)', values: ["'ab'", "''"] },
  caseless: { type: 'citext', values: ["'CiText'"] },
  unique_id: { type: 'uuid', values: ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"] },
  source_json: { type: 'json', values: [`'{"a": 1.10,  "a":2}'`, "'null'", `'"text"'`, "'7'"], unit: 'json' },
  binary_json: { type: 'jsonb', values: [`'{"b": ${LONG}, "c": [1,null,"x"]}'`, "'[]'", "'null'"], unit: 'json' },
  markup: { type: 'xml', values: ['\'<a b="1">ü &amp; x</a>\''] },
  bytes: { type: 'bytea', values: ["'\\x00ff10'", "''"] },
  day: { type: 'date', values: ["'2026-07-15'", "'1970-01-01'", "'1900-02-28'", "'9999-12-31'"] },
  clock: { type: 'time', values: ["'13:14:15.123456'", "'00:00'", "'23:59:59.999999'"] },
  clock_millis: { type: 'time(3)', values: ["'13:14:15.123'"] },
  at_local: {
    type: 'timestamp',
    values: ["'2026-07-15 13:14:15.123456'", "'1900-01-01'", "'9999-12-31 23:59:59.999999'"],
  },
  at_millis: { type: 'timestamp(3)', values: ["'2026-07-15 13:14:15.123'", "'1969-12-31 23:59:59.999'"] },
  at: { type: 'timestamptz', values: ["'2026-07-15 13:14:15.123456+02'", "'1900-01-01 00:00+00'"] },
  span: { type: 'interval', values: ["'1 year 2 mons 3 days 04:05:06.789'", "'-1 mons +2 days -03:00'", "'0'"] },
  one_bit: { type: 'bit(1)', values: ["B'1'", "B'0'"], unit: 'bits' },
  eight_bits: { type: 'bit(8)', values: ["B'10100101'", "B'00000001'", "B'00000000'"], unit: 'bits' },
  feeling: { type: 'SCHEMA.mood', values: ["'sad'", "'happy'"] },
  positive: { type: 'SCHEMA.positive', values: ['7'] },
  pairs: { type: 'hstore', values: [`'a=>1, b=>NULL, "q \\"x\\""=>"y, z"'`, "''"], unit: 'json' },
  host: { type: 'inet', values: ["'192.168.1.5/24'", "'::1'"] },
  network: { type: 'cidr', values: ["'10.0.0.0/8'"] },
  card: { type: 'macaddr', values: ["'08:00:2b:01:02:03'"] },
  place: { type: 'point', values: ["'(1.5,-2)'", "'(0,0)'"], unit: 'point' },
  words: { type: 'tsvector', values: ["'fat:2 cat:3'"] },
  object: { type: 'oid', values: ['4294967295'] },
  wholes: { type: 'int4range', values: ["'[1,10)'", "'empty'", "'(,5)'"] },
  exacts: { type: 'numrange', values: ["'(1.5,2.5]'"] },
  moments: { type: 'tstzrange', values: ["'[2026-01-01 00:00+00,2026-02-01 00:00+00)'"] },
  days: { type: 'daterange', values: ["'[2026-01-01,2026-02-01)'"] },
  whole_list: { type: 'integer[]', values: ["'{1,2,NULL}'", "'{}'"] },
  text_list: { type: 'text[]', values: [`'{a,"b,c",NULL,"q\\"q","NULL",""}'`, "'{}'"] },
  amount_list: { type: 'numeric(10,2)[]', values: ["'{1.10,-2.00}'"] },
  flag_list: { type: 'boolean[]', values: ["'{t,f}'"] },
  id_list: { type: 'uuid[]', values: ["'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'"] },
  feeling_list: { type: 'SCHEMA.mood[]', values: ["'{sad,happy}'"] },
  moment_list: { type: 'timestamptz[]', values: ['\'{"2026-07-15 13:14:15+02"}\''] },
  day_list: { type: 'date[]', values: ["'{2026-07-15,1970-01-01}'"] },
  json_list: { type: 'jsonb[]', values: [`'{"{\\"a\\":1}","[1]"}'`], unit: 'json' },
  card_long: { type: 'macaddr8', values: ["'08:00:2b:01:02:03:04:05'"] },
  bigs_range: { type: 'int8range', values: ["'[1,9007199254740993)'"] },
  locals_range: { type: 'tsrange', values: [`'["2026-01-01 00:00:00","2026-02-01 00:00:00")'`] },
  at_zoned_millis: { type: 'timestamptz(3)', values: ["'2026-07-15 13:14:15.123+02'"] },
  label_tree: { type: 'ltree', values: ["'a.b.c'", "''"] },
  clock_list: { type: 'time[]', values: ["'{13:14:15.5,00:00}'"] },
  at_list: { type: 'timestamp[]', values: [`'{"2026-07-15 13:14:15.123456"}'`] },
  single_list: { type: 'real[]', values: ["'{1.5,-0.1,NULL}'"] },
  double_list: { type: 'double precision[]', values: ["'{0.1,5e-324}'"] },
  big_list: { type: 'bigint[]', values: ["'{9007199254740993}'"] },
  short_list: { type: 'varchar(5)[]', values: ["'{ab,NULL}'"] },
  host_list: { type: 'inet[]', values: ["'{192.168.1.5/24}'"] },
  network_list: { type: 'cidr[]', values: ["'{10.0.0.0/8}'"] },
  range_list: { type: 'int4range[]', values: [`'{"[1,5)",empty}'`] },
  pairs_list: { type: 'hstore[]', values: [`'{"a=>1"}'`], unit: 'json' },
  own_pairs: { type: 'SCHEMA.own_pairs', values: ["'a=>1, b=>NULL'"], unit: 'json' },
  own_bits: { type: 'SCHEMA.own_bits', values: ["B'00000101'"], unit: 'bits' },
  own_place: { type: 'SCHEMA.own_place', values: ["'(1.5,-2)'"], unit: 'point' },
  own_amount: { type: 'SCHEMA.own_amount', values: ['1.50', '-0.01'] },
  own_day: { type: 'SCHEMA.own_day', values: ["'2026-07-15'"] },
  own_json: { type: 'SCHEMA.own_json', values: [`'{"a": 1.10}'`], unit: 'json' },
  own_texts: { type: 'SCHEMA.own_texts', values: ["'{a,NULL}'"] },
  bytes_list: { type: 'bytea[]', values: [`'{"\\\\x00ff"}'`] },
};

const units = Object.entries(COLUMNS).flatMap(([name, { unit }]) =>
  unit === undefined ? [] : [[name, unit] as const],
);

/** A table with a column of each type. */
export const EVERY_TYPE: SourceTable = {
  name: 'every_type',
  types: `CREATE EXTENSION IF NOT EXISTS hstore; CREATE EXTENSION IF NOT EXISTS citext;
    CREATE TYPE SCHEMA.mood AS ENUM ('sad', 'ok', 'happy'); CREATE DOMAIN SCHEMA.positive AS integer CHECK (VALUE > 0);
    CREATE EXTENSION IF NOT EXISTS ltree; CREATE DOMAIN SCHEMA.own_pairs AS hstore;
    CREATE DOMAIN SCHEMA.own_bits AS bit(8); CREATE DOMAIN SCHEMA.own_place AS point;
    CREATE DOMAIN SCHEMA.own_amount AS numeric(10,2); CREATE DOMAIN SCHEMA.own_day AS date;
    CREATE DOMAIN SCHEMA.own_json AS jsonb; CREATE DOMAIN SCHEMA.own_texts AS text[];`,
  columns: ['id integer', ...Object.entries(COLUMNS).map(([name, { type }]) => `${name} ${type}`)],
  key: ['id'],
  units: Object.fromEntries(units),
};

/** One of so many values is NULL. */
const NULL_EVERY = 8;

const sqlValue = (random: RandomSource, { values }: TypedColumn): string =>
  random.below(NULL_EVERY) === 0 ? 'NULL' : pick(random, values);

/**
 * The change at an index of the stream of changes of the table: half of them new rows, the rest updates and deletes.
 */
export function typedChange(seed: number, index: number): string {
  const random = randomSource(~seed, index);
  const one = `WHERE id = (SELECT id FROM every_type WHERE id >= ${random.below(Math.max(1, index))} ORDER BY id LIMIT 1)`;
  const columns = Object.entries(COLUMNS);
  switch (random.below(6)) {
    case 0:
      return `DELETE FROM every_type ${one}`;
    case 1:
    case 2: {
      const changes = columns
        .filter(() => random.below(5) === 0)
        .map(([name, column]) => `${name} = ${sqlValue(random, column)}`);
      return `UPDATE every_type SET ${['flag = NOT flag', ...changes.filter((change) => !change.startsWith('flag ='))].join(', ')} ${one}`;
    }
    default:
      return `INSERT INTO every_type VALUES (${[index, ...columns.map(([, column]) => sqlValue(random, column))].join(', ')})`;
  }
}
