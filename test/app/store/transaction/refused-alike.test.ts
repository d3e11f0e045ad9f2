import { describe, expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { recordsOf } from '../../../../app/records/pack-records.ts';
import { RowRefused } from '../../../../app/store/copy/isolate-poison.ts';
import { AdmittedRecords, type TableRows } from '../../../../app/store/tables/admit.ts';
import { Rows, type Table } from '../../../../app/store/tables/table.ts';
import { RefusedAlike, type RefusedRow } from '../../../../app/store/transaction/refused-alike.ts';
import { aRecord } from '../../stream/records.ts';

const ORDERS = { name: 'shop.orders' } as Table;
const ITEMS = { name: 'shop.items' } as Table;
const NAMED = 'named';

const HELD = 'OutageError';
const WAITS = 'TABLE_REFUSES_ROWS';
const LETTERS = 'dead letters';

/** What a table does with rows of a partition. */
interface Transaction {
  readonly rows: number;
  /** Places of the rows that it refuses. @default all */
  readonly refused?: readonly number[];
  readonly topic?: string;
  readonly partition?: number;
  readonly table?: Table;
  readonly violation?: { readonly sqlstate?: string; readonly constraint?: string };
  /** Places of the rows that delete. @default none */
  readonly deletes?: readonly number[];
  /** Places of the records of which only the table {@link ITEMS} has a row. @default none */
  readonly ofItems?: readonly number[];
}

const placesTo = (rows: number): readonly number[] => Array.from({ length: rows }, (_, place) => place);

/** Rows of one byte each. @param without places of the records that have none */
function rowsOf({ rows, table = ORDERS, deletes = [] }: Transaction, without: readonly number[] = []): TableRows {
  const rowsBefore = (end: number) => placesTo(end).filter((place) => !without.includes(place)).length;
  const starts = Uint32Array.from(placesTo(rows + 1), rowsBefore);
  return { table, rows: new Rows(Buffer.alloc(rows), starts, { deletes: new Set(deletes) }) };
}

function batchesOf(transaction: Transaction): readonly TableRows[] {
  const { rows, ofItems } = transaction;
  if (ofItems === undefined) {
    return [rowsOf(transaction)];
  }
  const others = placesTo(rows).filter((place) => !ofItems.includes(place));
  return [rowsOf(transaction, ofItems), rowsOf({ rows, table: ITEMS }, others)];
}

function admittedOf({ rows, topic = 'topic', partition = 0 }: Transaction): AdmittedRecords {
  const records = recordsOf(placesTo(rows).map((place) => aRecord(BigInt(place))));
  return new AdmittedRecords({ topic, partition, expectedOffset: 0n, nextOffset: BigInt(rows), records });
}

/** A group of which all topics but one may wait, with a clock that is set by hand. */
function open() {
  let now = 0;
  const refusedAlike = new RefusedAlike(
    (topic) => topic !== NAMED,
    () => now,
  );
  const refuse = (transaction: Transaction): string => {
    const { rows, refused = placesTo(rows), table = ORDERS, violation = {} } = transaction;
    const { sqlstate = 'P0001', constraint } = violation;
    const cause = Object.assign(new DatabaseError('no', 2, 'error'), { code: sqlstate, constraint });
    const refusal = {
      refusedBy: table,
      cause: new RowRefused(sqlstate, null, { cause }),
      reason: 'constraint_violated',
    } as const;
    const all = refused.map((index): RefusedRow => {
      const record = aRecord(BigInt(index));
      return { ...refusal, index, place: index, record, error: `no ${index}` };
    });
    try {
      refusedAlike.requireSomeTaken(all, admittedOf(transaction), batchesOf(transaction));
      return LETTERS;
    } catch (error) {
      const { name, code = name } = error as Error & { readonly code?: string };
      return code;
    }
  };
  const letter = (transaction: Transaction) => refusedAlike.becameLetters(admittedOf(transaction).of);
  const take = (transaction: Transaction) => refusedAlike.taken(admittedOf(transaction).of, [rowsOf(transaction)]);
  const pass = (seconds: number) => {
    now += seconds * 1_000;
  };
  return { refuse, letter, take, pass };
}

describe('rows of a topic that may wait, all of which a table refuses alike', () => {
  test('are held for 10 s, and then are dead letters where they are few', () => {
    const { refuse, pass } = open();
    expect(refuse({ rows: 1 })).toBe(HELD);
    pass(9.9);
    expect(refuse({ rows: 9 })).toBe(HELD);
    pass(0.1);
    expect(refuse({ rows: 9 })).toBe(LETTERS);
  });

  test('make the topic wait once ten are held, of all partitions', () => {
    const { refuse } = open();
    expect(placesTo(10).map((partition) => refuse({ rows: 1, partition }))).toEqual([...Array(9).fill(HELD), WAITS]);
    expect(refuse({ rows: 1 })).toBe(WAITS);
  });

  test('make it wait once ten were refused one after the other, and each was held', () => {
    const { refuse, letter, pass } = open();
    const refuseAlone = () => {
      const first = refuse({ rows: 1 });
      pass(10);
      const second = refuse({ rows: 1 });
      letter({ rows: 1 });
      return [first, second];
    };
    expect(placesTo(9).map(refuseAlone)).toEqual(Array(9).fill([HELD, LETTERS]));
    expect(refuse({ rows: 1 })).toBe(WAITS);
  });

  test('count once while nothing takes their dead letters', () => {
    const { refuse, pass } = open();
    refuse({ rows: 1 });
    const retry = () => {
      pass(10);
      return refuse({ rows: 1 });
    };
    expect(placesTo(20).map(retry)).toEqual(Array(20).fill(LETTERS));
  });

  test('and others beside them that violate something else are each held for 10 s', () => {
    const { refuse, pass } = open();
    const retry = () => {
      const ends = [refuse({ rows: 1 }), refuse({ rows: 1, partition: 1, violation: { constraint: 'other' } })];
      pass(5);
      return ends;
    };
    expect([retry(), retry(), retry()]).toEqual([
      [HELD, HELD],
      [HELD, HELD],
      [LETTERS, LETTERS],
    ]);
  });

  test('are held anew, and do not count, a minute after the partition went to another process', () => {
    const { refuse, pass } = open();
    refuse({ rows: 9 });
    pass(60);
    expect([refuse({ rows: 1, partition: 1 }), refuse({ rows: 9 })]).toEqual([HELD, WAITS]);
    pass(60);
    expect(refuse({ rows: 9 })).toBe(HELD);
  });

  test('are dead letters as soon as one comes that the table takes', () => {
    const { refuse } = open();
    expect(refuse({ rows: 9 })).toBe(HELD);
    expect(refuse({ rows: 10, refused: placesTo(9) })).toBe(LETTERS);
    expect(refuse({ rows: 9 })).toBe(HELD);
  });

  test('are dead letters where the table takes rows of another partition, and what comes later is held', () => {
    const { refuse, letter, take } = open();
    expect([refuse({ rows: 9 }), refuse({ rows: 1, partition: 1 })]).toEqual([HELD, WAITS]);
    take({ rows: 1, partition: 2 });
    // Where the dead letters could not be committed, the same rows come again.
    expect([refuse({ rows: 12 }), refuse({ rows: 12 })]).toEqual([LETTERS, LETTERS]);
    letter({ rows: 12 });
    expect(refuse({ rows: 9 })).toBe(HELD);
    expect(refuse({ rows: 1, partition: 1 })).toBe(LETTERS);
  });

  test('are dead letters where another partition has a row that the table takes beside one that it refuses', () => {
    const { refuse } = open();
    const ends = [refuse({ rows: 1 }), refuse({ rows: 2, refused: [0], partition: 1 }), refuse({ rows: 1 })];
    expect(ends).toEqual([HELD, LETTERS, LETTERS]);
  });

  test('are no dead letters for a row of another partition that deletes', () => {
    const { refuse, take } = open();
    expect(refuse({ rows: 9 })).toBe(HELD);
    take({ rows: 2, deletes: [0, 1], partition: 2 });
    expect(refuse({ rows: 1, partition: 1 })).toBe(WAITS);
  });

  test('are no dead letters for a record beside them of which only another table has a row', () => {
    const { refuse } = open();
    expect(refuse({ rows: 3, refused: [0, 2], ofItems: [1] })).toBe(HELD);
  });

  test('are held anew after the table took what it refused before', () => {
    const { refuse, take } = open();
    refuse({ rows: 9 });
    refuse({ rows: 9, partition: 1 });
    take({ rows: 9 });
    take({ rows: 9, partition: 1 });
    expect([refuse({ rows: 5 }), refuse({ rows: 4, partition: 1 })]).toEqual([HELD, HELD]);
  });

  test.each([
    ['only a row that deletes is taken', { rows: 3, refused: [0, 2], deletes: [1] }, WAITS],
    ['they violate something else', { rows: 2, violation: { sqlstate: '23514', constraint: 'small' } }, HELD],
    ['it is a duplicate', { rows: 1, violation: { sqlstate: '23505' } }, LETTERS],
    ['it overlaps with another row', { rows: 1, violation: { sqlstate: '23P01' } }, LETTERS],
    ['a value is out of range', { rows: 1, violation: { sqlstate: '22003' } }, LETTERS],
    ['it is another table', { rows: 1, table: ITEMS }, HELD],
    ['the topic is named', { rows: 99, topic: NAMED }, LETTERS],
    ['the topic is named, and they are 100', { rows: 100, topic: NAMED }, WAITS],
  ])('count with nine of another partition, or do not, where %s', (_, transaction, end) => {
    const { refuse } = open();
    refuse({ rows: 9, partition: 7 });
    expect(refuse(transaction)).toBe(end);
  });

  test('by a second violation, begin anew', () => {
    const { refuse } = open();
    expect(refuse({ rows: 9 })).toBe(HELD);
    const violation = { sqlstate: '23514', constraint: 'small' };
    expect(refuse({ rows: 9, violation })).toBe(HELD);
    expect(refuse({ rows: 10, violation })).toBe(WAITS);
  });
});
