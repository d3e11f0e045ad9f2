import { describe, expect, test } from '@jest/globals';
import { capturedRecords, capturedSchemas } from './captures.ts';
import { openKeyed } from './open-keyed.ts';

const PLACEHOLDER = '__debezium_unavailable_value';

describe('a history table of a source table without a primary key', () => {
  test.each([
    ['json', {}],
    ['schema', {}],
    ['iso', {}],
    ['avro', { format: { key: 'registry', value: 'registry' }, schemas: capturedSchemas() }],
  ] as const)('has a row for each event by %s, deletes too, and none for a tombstone', async (capture, format) => {
    const store = await openKeyed({
      ddl: 'CREATE TABLE ?.events (event jsonb NOT NULL, op text NOT NULL, lsn bigint)',
      tables: [
        { table: '?.events', envelope: 'debezium', columns: { event: '$value', op: '$op', lsn: '$source.lsn' } },
      ],
      ...format,
    });
    const records = capturedRecords(capture, 'no_key');
    expect(records.map(({ key }) => key)).toEqual([null, null, null, null]);
    expect(records.at(-1)).toEqual({ key: null, value: null });
    await store.write(records);
    const after = `coalesce(event->'payload', event)->'after'->>'b'`;
    expect(await store.run(`SELECT op, lsn, ${after} AS b FROM ?.events ORDER BY lsn`)).toEqual([
      { op: 'c', lsn: '40434728', b: 'x' },
      { op: 'u', lsn: '40434840', b: 'y' },
      { op: 'd', lsn: '40434976', b: null },
    ]);
    expect(await store.letters()).toEqual([]);
  });
});

describe('a large value that the source did not send', () => {
  const changes = [
    { op: 'c', after: { id: 1, doc: 'large', small: 1 } },
    { op: 'u', after: { id: 1, doc: PLACEHOLDER, small: 2 } },
  ].map((value) => ({ key: '{"id":1}', value }));

  test('is the placeholder in the event of a history table', async () => {
    const store = await openKeyed({
      ddl: 'CREATE TABLE ?.events (event jsonb, small int)',
      tables: [{ table: '?.events', envelope: 'debezium', columns: { event: '$value', small: 'small' } }],
    });
    await store.write(changes);
    expect(await store.run(`SELECT small, event->'after'->>'doc' AS doc FROM ?.events ORDER BY small`)).toEqual([
      { small: 1, doc: 'large' },
      { small: 2, doc: PLACEHOLDER },
    ]);
  });

  test('makes the whole event a dead letter where a history table has a column of it', async () => {
    const store = await openKeyed({
      ddl: 'CREATE TABLE ?.events (event jsonb, doc text)',
      tables: [{ table: '?.events', envelope: 'debezium', columns: { event: '$value', doc: 'doc' } }],
      settings: { deadLetters: { maxRatio: 1 } },
    });
    await store.write(changes);
    expect(await store.run('SELECT doc FROM ?.events')).toEqual([{ doc: 'large' }]);
    expect(await store.letters()).toEqual([{ at: 1, reason: 'missing_value', column: 'doc' }]);
  });
});
