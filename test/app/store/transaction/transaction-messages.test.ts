import { expect, test } from '@jest/globals';
import { type Connection, DatabaseError, type PoolClient } from 'pg';
import { RowRefused } from '../../../../app/store/copy/isolate-poison.ts';
import { RowStatements } from '../../../../app/store/copy/row-statements.ts';
import type { RowKinds, Table } from '../../../../app/store/tables/table.ts';
import {
  isNotUnderstood,
  sendMessage,
  type Transaction,
  transactionOf,
} from '../../../../app/store/transaction/transaction-messages.ts';

const CLIENT = {} as PoolClient;
const MOVING = { sql: 'UPDATE offsets', tag: 'UPDATE 2', behind: 1 };
const NO_KEPT: RowKinds['kept'] = new Set();

interface GivenTable {
  /** @default false: rows are taken by COPY */
  readonly isFew?: boolean;
  readonly allowsDroppedRows?: boolean;
  readonly rowTriggers?: readonly string[];
  readonly hasFingerprint?: boolean;
}

function aTable(name: string, { isFew = false, hasFingerprint = false, ...given }: GivenTable = {}): Table {
  const fingerprint = { expression: 'relkind', expected: 'r', name, mayHaveRowTriggers: false };
  const guard = {
    steps: [{ sql: `LOCK ${name}`, tag: 'LOCK TABLE' }],
    ...(hasFingerprint && { fingerprint }),
  };
  return {
    ...{ name, copy: { format: 'text' }, allowsDroppedRows: given.allowsDroppedRows ?? false },
    rowTriggers: () => given.rowTriggers ?? [],
    guard: () => guard,
    copying: () => ({ statements: [`COPY ${name}`, `MERGE ${name}`] }),
    fewRows: () =>
      isFew ? { guard, statement: { sql: `INSERT ${name}`, rows: [Buffer.alloc(2), Buffer.alloc(2)] } } : null,
  } as unknown as Table;
}

const rowsOf = (table: Table, kept = NO_KEPT) => ({
  ...{ table, rows: [Buffer.from('a\n')], length: 1, hasDeletes: false, kept },
});

const transaction = (...tables: readonly Table[]): Transaction =>
  transactionOf(
    CLIENT,
    MOVING,
    tables.map((table) => rowsOf(table)),
  );

/** The statements of a message. */
function textOf({ query }: Transaction['messages'][number]): string {
  const sent: string[] = [];
  const none = () => undefined;
  const connection = {
    query: (text: string) => sent.push(text),
    parse: ({ text }: { readonly text: string }) => sent.push(text),
    sync: none,
    stream: { cork: none, uncork: none, write: none },
  };
  query.submit(connection as unknown as Connection);
  return sent.join('; ');
}

const tablesOf = ({ messages }: Transaction) =>
  messages.map(({ tables }) => tables.map((table) => table?.name ?? null));

test('tables that take rows by COPY have all statements in one message, up to COMMIT', () => {
  const { messages, copied, commitsApart } = transaction(aTable('a'), aTable('b'));
  expect(messages.map(textOf)).toEqual(['UPDATE offsets; LOCK a; LOCK b; COPY a; MERGE a; COPY b; MERGE b; COMMIT']);
  expect([copied.map(({ table }) => table.name), commitsApart]).toEqual([['a', 'b'], false]);
});

test('an error is about the table of the statement, and a comparison is about all of them', () => {
  const of = transaction(aTable('a', { hasFingerprint: true }), aTable('b', { hasFingerprint: true }));
  expect(tablesOf(of)).toEqual([['a', 'b', null, 'a', 'a', 'b', 'b']]);
});

test('few rows are a message behind the one that moves the offsets, and COPYs of other tables are a third one', () => {
  const of = transaction(aTable('a'), aTable('b', { isFew: true }));
  expect(of.messages.map(({ query }) => query instanceof RowStatements)).toEqual([false, true, false]);
  expect(of.messages.map(textOf)).toEqual(['UPDATE offsets; LOCK b; LOCK a', 'INSERT b', 'COPY a; MERGE a; COMMIT']);
  expect(tablesOf(of)).toEqual([
    ['b', 'a'],
    ['b', 'b'],
    ['a', 'a'],
  ]);
  expect(of.messages.map(({ before }) => before(['BEGIN', 'UPDATE 2', 'INSERT 0 1']))).toEqual([3, 0, 0]);
});

test('few rows alone are two messages, of which the second one commits', () => {
  const of = transaction(aTable('b', { isFew: true }));
  expect(of.messages.map(({ query }) => query instanceof RowStatements)).toEqual([false, true]);
  expect(of.messages.map(textOf)).toEqual(['UPDATE offsets; LOCK b', 'INSERT b; COMMIT']);
  expect([of.copied, of.commitsApart]).toEqual([[], false]);
});

test.each<[string, Table, RowKinds['kept'], boolean]>([
  ['a trigger may drop some', aTable('a', { rowTriggers: ['audit'] }), NO_KEPT, true],
  ['the table allows that some are dropped', aTable('a', { allowsDroppedRows: true }), NO_KEPT, true],
  ['a row keeps columns', aTable('a'), new Set([1]), true],
  ['none is dropped, and none keeps columns', aTable('a'), NO_KEPT, false],
  ['they are few, and their statements find out', aTable('a', { isFew: true, rowTriggers: ['audit'] }), NO_KEPT, false],
])('the commit waits for how many rows were stored where %s', (_, table, kept, isApart) => {
  const { commitsApart, messages } = transactionOf(CLIENT, MOVING, [rowsOf(table, kept)]);
  expect(commitsApart).toBe(isApart);
  expect(messages.map(textOf).at(-1)?.endsWith('; COMMIT')).toBe(!isApart);
});

test('rows may be written once the offsets have moved, and each table is as known', () => {
  const { isMoved, isAsKnown } = transaction(aTable('a', { hasFingerprint: true }), aTable('b'));
  const opening = ['BEGIN', 'UPDATE 2', 'INSERT 0 1'];
  const both = (tags: readonly string[]) => [isMoved(tags), isAsKnown(tags)];
  expect(both([...opening, 'LOCK TABLE', 'LOCK TABLE', 'SELECT 1'])).toEqual([true, true]);
  expect(both([...opening, 'LOCK TABLE', 'LOCK TABLE', 'SELECT 0'])).toEqual([true, false]);
  expect(both([...opening, 'LOCK TABLE', 'LOCK TABLE'])).toEqual([true, false]);
  expect(both(['BEGIN', 'UPDATE 1', 'INSERT 0 1', 'LOCK TABLE', 'LOCK TABLE', 'SELECT 1'])).toEqual([false, true]);
  // The update may be the first statement.
  expect(both(['UPDATE 2', 'INSERT 0 1', 'LOCK TABLE', 'LOCK TABLE', 'SELECT 1'])).toEqual([true, true]);
  expect(both(['BEGIN'])).toEqual([false, false]);
});

/** Sends the message, which fails behind some tags. */
function failing(of: Transaction['messages'][number], tags: readonly string[], code: string) {
  const client = { query: (query: typeof of.query) => query } as unknown as PoolClient;
  const sent = sendMessage(client, of);
  for (const text of tags) {
    of.query.handleCommandComplete({ text });
  }
  of.query.handleError(Object.assign(new DatabaseError('refused by the test', 0, 'error'), { code }));
  return sent;
}

test('a refused row, and a statement that names what is gone, are answers', async () => {
  const message = () => transaction(aTable('a')).messages[0] as Transaction['messages'][number];
  expect(await failing(message(), [], '23514')).toBeInstanceOf(RowRefused);
  expect(await failing(message(), [], '42P01')).toBe('not understood');
  expect(await failing(message(), [], '3F000')).toBe('not understood');
});

test('any other error names the table whose statement failed, where it is of one', async () => {
  const opening = ['UPDATE 2', 'INSERT 0 1'];
  const message = () => transaction(aTable('a'), aTable('b')).messages[0] as Transaction['messages'][number];
  await expect(failing(message(), [...opening, 'LOCK TABLE'], '55P03')).rejects.toMatchObject({
    table: 'b',
  });
  await expect(failing(message(), ['UPDATE 2'], '55P03')).rejects.toMatchObject({ code: '55P03' });
  await expect(failing(message(), [], '55P03')).rejects.toMatchObject({ code: '55P03' });
});

test('only syntax, names and rights are not understood', () => {
  const error = (code?: string) => Object.assign(new DatabaseError('no', 0, 'error'), { code });
  expect(
    [error('42601'), error('3F000'), error('55P03'), error('23505'), error(), new Error('42601')].map(isNotUnderstood),
  ).toEqual([true, true, false, false, false, false]);
});
