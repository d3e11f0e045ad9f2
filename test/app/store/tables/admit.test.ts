import { expect, test } from '@jest/globals';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { NEW_MEMORY } from '../../../../app/store/copy/row-memory.ts';
import { type Admitted, admit, tableCounts } from '../../../../app/store/tables/admit.ts';
import { type Refusal, type RefusedRecord, Rows, type Table } from '../../../../app/store/tables/table.ts';
import { aRecord } from '../../stream/records.ts';

/** What a table does with each record, by its place: a row, one that deletes, none, a refusal. */
type Fate = 'row' | 'delete' | 'unmatched' | 'nothing' | 'refused';

interface GivenTable extends Partial<Pick<Table, 'operation' | 'refusesUnmatched'>> {
  readonly name: string;
  readonly fates: readonly Fate[];
  readonly unmappedFields?: number;
}

const refusal = (table: string): Refusal => ({
  ...{ reason: 'missing_value', error: 'no', target: table, targetColumn: 'id' },
});

const HAS_ROW: ReadonlySet<Fate> = new Set(['row', 'delete']);

/** A table of rows of one byte. */
function aTable({ fates, unmappedFields, ...given }: GivenTable): Table {
  const places = (of: Fate) => fates.flatMap((fate, place) => (fate === of ? place : []));
  const starts = new Uint32Array(fates.length + 1);
  for (const [place, fate] of fates.entries()) {
    starts[place + 1] = (starts[place] ?? 0) + (HAS_ROW.has(fate) ? 1 : 0);
  }
  const kinds = { deletes: new Set(places('delete')), unmatched: new Set(places('unmatched')) };
  const bytes = Buffer.from(fates.flatMap((fate, place) => (HAS_ROW.has(fate) ? place : [])));
  return {
    ...given,
    encode: () => ({
      rows: new Rows(bytes, starts, kinds),
      refused: new Map(places('refused').map((place) => [place, refusal(given.name)])),
      ...(unmappedFields !== undefined && { unmappedFields }),
    }),
  } as unknown as Table;
}

function admitted(...tables: readonly GivenTable[]): Admitted {
  const records = recordsOf((tables[0]?.fates ?? []).map((_, place) => aRecord(BigInt(place))));
  const request = { topic: 'orders', partition: 3, expectedOffset: 0n, nextOffset: BigInt(records.length), records };
  return admit(tables.map(aTable), request, NEW_MEMORY);
}

const placesOf = ({ admitted: of }: Admitted) => Array.from({ length: of.length }, (_, nth) => of.at(nth)?.place);
const offsetsOf = ({ refused }: Admitted) => refused.map(({ record, place, reason }) => [record.offset, place, reason]);

/** A record that PostgreSQL refused. */
const poison = (place: number, target?: string): RefusedRecord => ({
  ...{ record: aRecord(BigInt(place)), place, reason: 'constraint_violated', error: 'no' },
  ...(target !== undefined && { target }),
});

test('where every record has a row, all are admitted', () => {
  const of = admitted({ name: 'a', fates: ['row', 'row'] });
  expect([placesOf(of), of.refused, of.admitted.of]).toEqual([[0, 1], [], { topic: 'orders', partition: 3 }]);
  expect([...of.admitted.indexesOf(new Set([1]))]).toEqual([1]);
  expect(of.admitted.at(2)).toBeNull();
});

test('a record that one table refuses has a row in none, and is a letter with the refusal of that table', () => {
  const of = admitted(
    { name: 'a', fates: ['row', 'row', 'refused'] },
    { name: 'b', fates: ['refused', 'row', 'refused'] },
  );
  expect([placesOf(of), offsetsOf(of)]).toEqual([
    [1],
    [
      [0n, 0, 'missing_value'],
      [2n, 2, 'missing_value'],
    ],
  ]);
  expect(of.refused.map(({ target }) => target)).toEqual(['b', 'a']);
  expect(of.batches.map(({ table, rows }) => [table.name, [...rows.all]])).toEqual([
    ['a', [1]],
    ['b', [1]],
  ]);
  expect([...of.admitted.indexesOf(new Set([1, 2]))]).toEqual([0]);
  expect(of.admitted.at(1)).toBeNull();
});

test('a record is unmatched where no table takes it, and a letter where one of them asks for that', () => {
  const fates = { first: ['unmatched', 'unmatched', 'row'], second: ['unmatched', 'row', 'unmatched'] } as const;
  const counted = admitted({ name: 'a', fates: fates.first }, { name: 'b', fates: fates.second });
  expect([counted.unmatched, placesOf(counted), counted.refused]).toEqual([1, [0, 1, 2], []]);
  const refused = admitted(
    { name: 'a', fates: fates.first },
    { name: 'b', fates: fates.second, refusesUnmatched: true },
  );
  expect([refused.unmatched, placesOf(refused), offsetsOf(refused)]).toEqual([0, [1, 2], [[0n, 0, 'unmatched']]]);
});

test('unmatched records are counted beside ones that a table refuses', () => {
  const of = admitted({ name: 'a', fates: ['unmatched', 'refused', 'row'], unmappedFields: 2 });
  expect([of.unmatched, of.unmappedFields, placesOf(of), offsetsOf(of)]).toEqual([
    ...[1, 2, [0, 2]],
    [[1n, 1, 'missing_value']],
  ]);
});

test('fields that no table takes are counted over all tables', () => {
  const fates = ['row'] as const;
  const of = admitted(
    { name: 'a', fates, unmappedFields: 2 },
    { name: 'b', fates, unmappedFields: 3 },
    { name: 'c', fates },
  );
  expect(of.unmappedFields).toBe(5);
});

test('records alone have no counts of tables', () => {
  expect(tableCounts(admitted({ name: 'records', fates: ['row'] }))).toBeUndefined();
});

test('records are counted by table and by what became of them there', () => {
  const of = admitted(
    { name: 'records', fates: ['row', 'row', 'row', 'row', 'row'] },
    { name: 'shop.a', operation: 'append', fates: ['row', 'delete', 'unmatched', 'nothing', 'row'], unmappedFields: 1 },
    { name: 'shop.b', operation: 'upsert', fates: ['unmatched', 'row', 'unmatched', 'row', 'row'] },
  );
  expect(tableCounts(of)).toEqual({
    operations: [
      { table: 'shop.a', operation: 'append', records: 2 },
      { table: 'shop.a', operation: 'delete', records: 1 },
      { table: 'shop.a', operation: 'skip', records: 1 },
      { table: 'shop.b', operation: 'upsert', records: 3 },
    ],
    deadLetters: [],
    unmappedFields: 1,
    unmatched: 0,
  });
});

test('dead letters are no rows of any table, and are counted by table, column and reason', () => {
  const of = admitted({
    ...{ name: 'shop.a', operation: 'append' },
    fates: ['refused', 'row', 'delete', 'unmatched', 'row', 'refused', 'nothing', 'row'],
  });
  expect(tableCounts(of, [poison(1, 'shop.a'), poison(2, 'shop.a'), poison(3), poison(6)])).toEqual({
    operations: [{ table: 'shop.a', operation: 'append', records: 2 }],
    deadLetters: [
      { table: 'shop.a', column: 'id', reason: 'missing_value', records: 2 },
      { table: 'shop.a', column: '', reason: 'constraint_violated', records: 2 },
    ],
    unmappedFields: 0,
    unmatched: 1,
  });
});
