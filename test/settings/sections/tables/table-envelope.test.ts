import { describe, expect, test } from '@jest/globals';
import { describeProblem } from '../../../../settings/schema/problem.ts';
import { tablesOf } from '../../../../settings/sections/tables.ts';
import { checkSettings } from '../../../../settings/settings.ts';

const SMALLEST = {
  kafka: { brokers: ['localhost:9092'], groupId: 'orders-to-postgres' },
  database: { url: 'postgresql://localhost/orders' },
} as const;

const ORDERS = { topic: 'shop.public.orders', table: 'public.orders' } as const;

const check = (...entries: readonly object[]) =>
  checkSettings({ ...SMALLEST, tables: entries.map((entry) => ({ ...ORDERS, ...entry })) });

function entryOf(entry: object) {
  const checked = check(entry);
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return tablesOf(checked.value)[0];
}

function problemsOf(...entries: readonly object[]) {
  const checked = check(...entries);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
}

describe('the envelope of a table', () => {
  test('is not there where an entry names none', () => {
    expect(entryOf({})).not.toHaveProperty('envelope');
  });

  test('has the placeholder of Debezium unless the entry says another one', () => {
    expect(entryOf({ key: 'id', envelope: 'debezium' })?.envelope).toEqual({
      format: 'debezium',
      unavailableValue: '__debezium_unavailable_value',
    });
    const entry = { key: 'id', envelope: 'debezium-flat', unavailableValue: 'hex:00ff' };
    expect(entryOf(entry)?.envelope).toEqual({ format: 'debezium-flat', unavailableValue: 'hex:00ff' });
  });

  test('deletes by __deleted where events are flattened', () => {
    expect(entryOf({ key: 'id', envelope: 'debezium-flat' })?.key?.delete).toEqual(['__deleted']);
    expect(entryOf({ key: 'id', envelope: 'debezium' })?.key?.delete).toBe('tombstones');
  });

  test.each([
    ['a replica', { key: 'id', envelope: 'debezium', existing: 'replace' }],
    ['a history table', { envelope: 'debezium', columns: { event: '$value' } }],
    ['a history table, its column in full', { envelope: 'debezium', columns: { event: { from: '$value' } } }],
    ['rows around which a schema may be', { envelope: 'connect' }],
    ['the same by key', { envelope: 'connect', key: 'id', existing: 'keep', delete: 'gone' }],
    ['parts of the event', { key: 'id', envelope: 'debezium', columns: { op: '$op', at: '$source.ts_ms' } }],
  ])('is right for %s', (_, entry) => {
    expect(problemsOf(entry)).toEqual([]);
  });

  const needsKey = 'needs a key beside it: a change event replaces or deletes the row that has its key';

  test.each([
    [{ envelope: 'debezium' }, `tables[0].envelope ${needsKey}`],
    [{ envelope: 'debezium', columns: { event: 'value' } }, `tables[0].envelope ${needsKey}`],
    [{ envelope: 'debezium-flat', columns: { event: '$value' } }, `tables[0].envelope ${needsKey}`],
    [
      { envelope: 'debezium', key: 'id', existing: 'keep' },
      'tables[0].existing is not for envelope debezium: its events say what replaces and what deletes a row',
    ],
    [
      { envelope: 'debezium-flat', key: 'id', delete: 'never' },
      'tables[0].delete is not for envelope debezium-flat: its events say what replaces and what deletes a row',
    ],
    [
      { key: 'id', unavailableValue: 'x' },
      'tables[0].unavailableValue is set without an envelope of Debezium, which alone sends placeholders',
    ],
    [
      { envelope: 'connect', unavailableValue: 'x' },
      'tables[0].unavailableValue is set without an envelope of Debezium, which alone sends placeholders',
    ],
    ...['hex:', 'hex:0', 'hex:zz', 'hex:00 ff'].map(
      (unavailableValue) =>
        [
          { key: 'id', envelope: 'debezium', unavailableValue },
          'tables[0].unavailableValue begins with hex:, and what follows is no bytes in hex',
        ] as const,
    ),
    [
      { key: 'id', columns: { op: '$op' } },
      'tables[0].columns.op takes a part of a change event, and the entry has not envelope: debezium',
    ],
    [
      { key: 'id', envelope: 'debezium-flat', columns: { at: { from: '$source.ts_ms', as: 'epoch-millis' } } },
      'tables[0].columns.at.from takes a part of a change event, and the entry has not envelope: debezium',
    ],
    [
      { key: 'id', envelope: 'debezium', columns: { op: '$op.x' } },
      'tables[0].columns.op has a path behind $op, which is no object',
    ],
  ])('is refused as in %j', (entry, problem) => {
    expect(problemsOf(entry)).toEqual([problem]);
  });

  test('is one in all entries of a topic', () => {
    const history = { table: 'public.history', envelope: 'debezium', columns: { event: '$value' } };
    expect(problemsOf({ key: 'id', envelope: 'debezium' }, history)).toEqual([]);
    expect(
      problemsOf({ key: 'id', envelope: 'debezium' }, { table: 'public.rows', envelope: 'connect' }, { table: 'a.b' }),
    ).toEqual(
      [1, 2].map(
        (nth) =>
          `tables[${nth}].envelope is another one for the topic shop.public.orders than that of tables[0], which is debezium`,
      ),
    );
  });
});
