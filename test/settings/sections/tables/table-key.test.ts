import { describe, expect, test } from '@jest/globals';
import { describeProblem } from '../../../../settings/schema/problem.ts';
import { tablesOf } from '../../../../settings/sections/tables.ts';
import { checkSettings } from '../../../../settings/settings.ts';

const SMALLEST = {
  kafka: { brokers: ['localhost:9092'], groupId: 'customers-to-postgres' },
  database: { url: 'postgresql://localhost/customers' },
} as const;

const CUSTOMERS = { topic: 'customers', table: 'public.customers' } as const;

const check = (entry: object) => checkSettings({ ...SMALLEST, tables: [{ ...CUSTOMERS, ...entry }] });

function keyOf(entry: object) {
  const checked = check(entry);
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return tablesOf(checked.value)[0]?.key;
}

function problemsOf(entry: object): readonly string[] {
  const checked = check(entry);
  return checked.ok ? [] : checked.problems.map(describeProblem);
}

describe('the key of a table', () => {
  test('is not there where an entry names none', () => {
    expect(keyOf({})).toBeNull();
  });

  test('replaces the rows that are there, and tombstones alone delete, unless the entry says otherwise', () => {
    expect(keyOf({ key: 'id' })).toEqual({ columns: ['id'], existing: 'replace', delete: 'tombstones' });
  });

  test('has several columns, in the order of the settings, with names as they are', () => {
    expect(keyOf({ key: ['tenant', 'The Id'], existing: 'replace' })).toMatchObject({ columns: ['tenant', 'The Id'] });
  });

  test('keeps rows that are there', () => {
    expect(keyOf({ key: 'id', existing: 'keep' })).toMatchObject({ existing: 'keep' });
  });

  test.each([
    ['never', 'never'],
    ['__deleted', ['__deleted']],
    ['meta.deleted', ['meta', 'deleted']],
    ['/a.b/0', ['a.b', 0]],
    ['/never', ['never']],
    ['/$deleted', ['$deleted']],
  ])('takes %j for what deletes', (given, expected) => {
    expect(keyOf({ key: 'id', delete: given })).toMatchObject({ delete: expected });
  });

  test('may have a column with a source of its own', () => {
    expect(problemsOf({ key: 'id', columns: { id: '$key.id', note: false } })).toEqual([]);
  });

  test.each([
    [[], 'tables[0].key is not allowed: []'],
    ['', 'tables[0].key is not allowed: ""'],
    [['id', 'id'], 'tables[0].key is not allowed: ["id","id"]'],
    [['id', ''], 'tables[0].key is not allowed: ["id",""]'],
    [true, 'tables[0].key is not allowed: true'],
    [{ id: true }, 'tables[0].key is not allowed: {"id":true}'],
  ])('is not %j', (key, text) => {
    expect(problemsOf({ key })).toEqual([
      `${text}\n  allowed: primary; a column, named as in the catalog; or a list of them, each once`,
    ]);
  });

  test.each([
    [{ existing: 'update' }, 'tables[0].existing is none of the known values: "update"', 'one of replace, keep'],
    [{ delete: '' }, 'tables[0].delete is empty or too short: ""', 'never; or the path of a field, '],
    [{ delete: false }, 'tables[0].delete has the wrong type: false', 'never; or the path of a field, '],
    [{ delete: 'a..b' }, 'tables[0].delete has a dot without a name on one of its sides: "a..b"', 'names with a dot'],
    [{ delete: 'a[0]' }, 'tables[0].delete has brackets', 'names with a dot between each two'],
    [{ delete: '/a~b' }, 'tables[0].delete has a ~ that is neither ~0 nor ~1', 'a JSON Pointer'],
    [{ delete: '$key.x' }, 'tables[0].delete begins with $, and is no field of the value', 'names with a dot'],
    [{ delete: 'Never' }, 'tables[0].delete is not the word never as it is written: "Never"', 'never; /Never for'],
    [{ delete: 'false' }, 'tables[0].delete is the word false, and no path of a field: "false"', 'nothing here, '],
    [{ delete: 'TRUE' }, 'tables[0].delete is the word true, and no path of a field: "TRUE"', 'nothing here, '],
  ])('stands beside no %j', (more, text, allowed) => {
    const [problem, ...others] = problemsOf({ key: 'id', ...more });
    expect(others).toEqual([]);
    expect(problem).toContain(text);
    expect(problem).toContain(`\n  allowed: ${allowed}`);
  });
});

describe('the version of rows', () => {
  test('is none unless an entry names its column', () => {
    expect(keyOf({ key: 'id' })).not.toHaveProperty('version');
    expect(keyOf({ key: 'id', version: 'Changed At' })).toMatchObject({ version: 'Changed At' });
  });

  test('may have a source', () => {
    expect(problemsOf({ key: 'id', version: 'at', columns: { at: '$timestamp' } })).toEqual([]);
  });

  test.each([
    [{ version: '' }, 'tables[0].version is empty or too short: ""', 'a column, named as in the catalog'],
    [{ version: ['a', 'b'] }, 'tables[0].version has the wrong type: ["a","b"]', 'a column, named as in the catalog'],
    [{ version: 'at', existing: 'keep' }, 'tables[0].version is not for existing: keep, by which', 'nothing here; or'],
    [{ version: 'id' }, 'tables[0].version is a column of the key: two rows', 'a column beside those of the key'],
    [
      { version: 'at', columns: { at: false } },
      'tables[0].columns.at leaves out the column of the version: no record would have one: false',
      'a source for the column, or another version',
    ],
  ])('stands beside no %j', (more, text, allowed) => {
    const [problem, ...others] = problemsOf({ key: 'id', ...more });
    expect(others).toEqual([]);
    expect(problem).toContain(text);
    expect(problem).toContain(`\n  allowed: ${allowed}`);
  });
});

test('without a key nothing is said of rows that are there, and each word of it is told', () => {
  const rest = 'is set without key: rows are only appended, and none that is there is replaced or deleted';
  const allowed = 'nothing here; or key beside it, with the columns that rows are replaced and deleted by';
  expect(problemsOf({ existing: 'replace', delete: 'deleted', version: 'at' })).toEqual([
    `tables[0].existing ${rest}: "replace"\n  allowed: ${allowed}`,
    `tables[0].delete ${rest}: "deleted"\n  allowed: ${allowed}`,
    `tables[0].version ${rest}: "at"\n  allowed: ${allowed}`,
  ]);
});

test('each column of the key that is never written is told, beside the other problems of the entry', () => {
  const columns = { id: false, tenant: false, name: 'x..y', note: false };
  expect(problemsOf({ key: ['tenant', 'id'], delete: '$offset', columns }).map((text) => text.split('\n')[0])).toEqual([
    'tables[0].columns.name has a dot without a name on one of its sides: "x..y"',
    'tables[0].columns.tenant leaves out a column of the key: no record could be distinguished from another: false',
    'tables[0].columns.id leaves out a column of the key: no record could be distinguished from another: false',
    'tables[0].delete begins with $, and is no field of the value: "******"',
  ]);
});
