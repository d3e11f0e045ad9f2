import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { from } from 'pg-copy-streams';
import { AvroFields } from '../../../app/formats/avro/avro-fields.ts';
import { AvroProgram } from '../../../app/formats/avro/avro-program.ts';
import { DocumentFields } from '../../../app/tables/json/document-fields.ts';
import type { ColumnType, MappedColumn } from '../../../app/tables/mapping/table-mapping.ts';
import { CopyText } from '../../../app/tables/rows/copy-text.ts';
import { TypedColumn } from '../../../app/tables/rows/row-column.ts';
import { RowText } from '../../../app/tables/rows/row-text.ts';
import { anySchema } from '../../app/formats/avro/any-schema.ts';
import { AvscOracle } from '../../app/formats/avro/avsc-oracle.ts';
import {
  type AnySchema,
  type AnyValue,
  declared,
  LOGICAL_SCHEMAS,
  SIMPLE_SCHEMAS,
} from '../../app/formats/avro/leaf-schemas.ts';
import { type TestDatabase, withDatabase } from '../stack/database.ts';
import { IS_LONG_RUN } from '../stack/long-test.ts';

const RUNS = IS_LONG_RUN ? 300 : 20;
const MOST_RECORDS = 30;

let oracle: AvscOracle;
beforeAll(() => {
  oracle = new AvscOracle();
});
afterAll(() => oracle.stop());

type Kind = Exclude<ColumnType['kind'], 'array' | 'composite'>;

const type = (name: string, kind: Kind): ColumnType => ({ kind, name });
const ANY: readonly ColumnType[] = [type('text', 'text'), type('jsonb', 'json'), type('json', 'json')];
const TIMES = [type('timestamptz', 'timestamp'), type('timestamp', 'timestamp'), type('date', 'date')];

/** Columns beside {@link ANY} that take the values of a schema, by its logical type or its type. */
const COLUMNS: Readonly<Record<string, readonly ColumnType[]>> = {
  boolean: [type('boolean', 'boolean')],
  int: [type('integer', 'integer'), type('numeric', 'numeric')],
  long: [type('bigint', 'integer'), type('double precision', 'float')],
  float: [type('real', 'float')],
  double: [type('double precision', 'float')],
  bytes: [type('bytea', 'bytea')],
  fixed: [type('bytea', 'bytea')],
  decimal: [type('numeric', 'numeric')],
  'big-decimal': [type('numeric', 'numeric')],
  uuid: [type('uuid', 'other')],
  duration: [type('interval', 'interval')],
  date: [type('date', 'date'), type('timestamp', 'timestamp')],
  'time-millis': [type('time', 'time')],
  'time-micros': [type('time', 'time')],
};

function columnsFor({ schema, branch }: AnySchema): readonly ColumnType[] {
  const { type: kind = '', logicalType = kind } = (typeof schema === 'string' ? { type: schema } : schema) as {
    readonly type?: string;
    readonly logicalType?: string;
  };
  const isTime = /timestamp/.test(logicalType);
  const isMeant = kind !== 'string' && !(kind === 'bytes' && logicalType === 'uuid');
  return [...ANY, ...(isTime ? TIMES : isMeant ? (COLUMNS[logicalType] ?? COLUMNS[branch] ?? []) : [])];
}

/** Schemas of a column, and columns for them: of single values, of lists of those, and of anything as JSON. */
const column = fc
  .oneof(
    { weight: 4, arbitrary: fc.oneof(fc.constantFrom(...SIMPLE_SCHEMAS, ...LOGICAL_SCHEMAS), declared) },
    { weight: 1, arbitrary: anySchema },
  )
  .chain((of) => fc.record({ of: fc.constant(of), type: fc.constantFrom(...columnsFor(of)), isList: fc.boolean() }));

interface TestColumn {
  readonly of: AnySchema;
  readonly type: ColumnType;
  readonly isList: boolean;
}

const elementsOf = (element: ColumnType): ColumnType => ({
  ...{ kind: 'array', name: `${element.name}[]`, element, delimiter: ',' },
});

/** Lists of lists are none of one length: those go into no array. */
const hasArray = ({ of, type: { kind } }: TestColumn): boolean =>
  kind !== 'json' && kind !== 'text' && !['array', 'union', 'null'].includes(of.branch);

const typeOf = (each: TestColumn): ColumnType => (each.isList && hasArray(each) ? elementsOf(each.type) : each.type);

function schemaOf(columns: readonly TestColumn[]): object {
  const fields = columns.map(({ of, isList }, nth) => ({
    name: `c${nth}`,
    type: isList ? { type: 'array', items: of.schema } : of.schema,
  }));
  return { type: 'record', name: 'Row', fields };
}

const list = (values: readonly AnyValue[]) => ({
  avsc: values.map(({ avsc }) => avsc),
  iso: `[${values.map(({ iso }) => iso).join()}]`,
});

/** A record: as avsc takes it, and its JSON. */
const recordOf = (columns: readonly TestColumn[]) =>
  fc
    .tuple(...columns.map(({ of, isList }) => (isList ? fc.array(of.values, { maxLength: 3 }).map(list) : of.values)))
    .map((values) => ({
      avsc: Object.fromEntries(values.map(({ avsc }, nth) => [`c${nth}`, avsc])),
      json: `{${values.map(({ iso }, nth) => `"c${nth}":${iso}`).join()}}`,
    }));

const tables = fc.array(column, { minLength: 1, maxLength: 5 }).chain((columns) =>
  fc.record({
    columns: fc.constant(columns),
    records: fc.array(recordOf(columns), { minLength: 1, maxLength: MOST_RECORDS }),
  }),
);

const mappedColumn = (each: TestColumn, nth: number): MappedColumn => ({
  ...{ name: `c${nth}`, type: typeOf(each), source: { kind: 'field', path: [`c${nth}`] }, isNotNull: false },
  hasDefault: false,
});

/** Rows of a table with their numbers, and why records are none. */
class Rows {
  readonly #columns: readonly TypedColumn[];
  readonly #text = new CopyText(64);
  readonly #row = new RowText(this.#text, false);
  readonly refused: string[] = [];

  constructor(columns: readonly MappedColumn[]) {
    this.#columns = columns.map((each) => new TypedColumn(each, undefined));
  }

  get bytes(): Buffer {
    return this.#text.slice(0, this.#text.end);
  }

  add(nth: number, fields: Pick<AvroFields, 'of' | 'units'>): void {
    const { end } = this.#text;
    this.#text.text(String(nth));
    const faults = this.#columns.map((each, place) => this.#row.json(each.by(fields.units[place]), fields.of(place)));
    const fault = faults.find((reason) => reason !== null);
    if (fault === undefined || fault === null) {
      this.#text.endRow();
    } else {
      this.#text.takeBack(end);
      this.refused.push(`${nth} ${fault}`);
    }
  }
}

async function copy({ client }: TestDatabase, table: string, rows: Rows): Promise<void> {
  const statement = `COPY ${table} FROM STDIN (FORMAT text, ENCODING 'UTF8')`;
  await pipeline(Readable.from([rows.bytes]), client.query(from(statement)));
}

test('a record in Avro and its twin in JSON make the same row, or are refused for the same reason', async () => {
  let stored = 0;
  await withDatabase((database) =>
    fc.assert(
      fc.asyncProperty(tables, async ({ columns, records }) => {
        const mapped = columns.map(mappedColumn);
        const paths = mapped.map(({ name }) => [name]);
        const schema = schemaOf(columns) as AnySchema['schema'];
        const program = new AvroProgram({ id: 1, text: JSON.stringify(schema), references: [] }, paths);
        const [avro, json] = [new AvroFields(), new DocumentFields(paths)];
        const [ofAvro, ofJson] = [new Rows(mapped), new Rows(mapped)];
        const encoded = await oracle.encode(records.map(({ avsc }) => ({ schema, value: avsc })));
        for (const [nth, record] of records.entries()) {
          const bytes = encoded[nth] ?? Buffer.alloc(0);
          const twin = Buffer.from(record.json);
          expect([avro.read(program, bytes, 0, bytes.length), json.read(twin, 0, twin.length)]).toEqual([null, null]);
          ofAvro.add(nth, avro);
          ofJson.add(nth, { of: (place) => json.of(place), units: [] });
        }
        expect(ofAvro.refused).toEqual(ofJson.refused);
        const { client } = database;
        const ddl = mapped.map(({ name, type: { name: sql } }) => `${name} ${sql}`).join();
        await client.query(`DROP TABLE IF EXISTS avro, twin; CREATE TEMP TABLE avro (n int, ${ddl});
          CREATE TEMP TABLE twin (n int, ${ddl})`);
        await copy(database, 'avro', ofAvro);
        await copy(database, 'twin', ofJson);
        const { rows } = await client.query(`SELECT a::text AS avro, t::text AS twin FROM avro a FULL JOIN twin t
          USING (n) WHERE a::text IS DISTINCT FROM t::text`);
        expect(rows).toEqual([]);
        stored += records.length - ofAvro.refused.length;
      }),
      { numRuns: RUNS, ...(!IS_LONG_RUN && { seed: 1 }) },
    ),
  );
  expect(stored).toBeGreaterThan(RUNS * 5);
});
