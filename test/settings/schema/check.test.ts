import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';
import { checkAgainst } from '../../../settings/schema/check.ts';

const closed = { additionalProperties: false } as const;

function problems(schema: Parameters<typeof checkAgainst>[0], input: unknown) {
  const checked = checkAgainst(schema, input);
  return checked.ok ? [] : checked.problems;
}

describe('a union', () => {
  const section = Type.Object({ size: Type.Integer() }, closed);
  const schema = Type.Object({ value: Type.Union([Type.Literal('none'), Type.Literal('all'), section]) }, closed);

  test('takes each of its branches', () => {
    expect(problems(schema, { value: 'all' })).toEqual([]);
    expect(problems(schema, { value: { size: 1 } })).toEqual([]);
  });

  test('is one problem that names all branches', () => {
    expect(problems(schema, { value: 'some' })).toEqual([
      { path: 'value', message: 'is not allowed', given: 'some', allowed: 'none, or all, or a map with the key size' },
    ]);
  });

  test('of a single section reports what is wrong in that section', () => {
    expect(problems(schema, { value: { siz: 1, size: 'x' } })).toMatchObject([
      { path: 'value.siz', nearest: 'value.size' },
      { path: 'value.size', allowed: 'a whole number' },
    ]);
  });

  test('of literals alone names them as a choice', () => {
    const choice = Type.Object({ value: Type.Union([Type.Literal('a'), Type.Literal('b')]) });
    expect(problems(choice, { value: 'c' })).toEqual([
      { path: 'value', message: 'is not allowed', given: 'c', allowed: 'one of a, b' },
    ]);
  });
});

describe('one value', () => {
  test('is one problem, whatever it violates', () => {
    const schema = Type.Object({ name: Type.String({ pattern: '^[a-z]+$', maxLength: 3 }) });
    expect(problems(schema, { name: 'ABCDE' })).toHaveLength(1);
  });

  test('in a map with free names is found by its path', () => {
    const schema = Type.Object({ labels: Type.Record(Type.String({ pattern: '^[a-z/.]+$' }), Type.String()) }, closed);
    expect(problems(schema, { labels: { 'a/b': 1, ok: 'x' } })).toMatchObject([{ path: 'labels.a/b', given: 1 }]);
  });
});

describe('words for what is allowed', () => {
  test.each([
    [Type.Integer({ minimum: 1 }), 'x', 'a whole number of at least 1'],
    [Type.Integer({ maximum: 9 }), 'x', 'a whole number of at most 9'],
    [Type.Number({ minimum: 0, maximum: 1 }), 2, 'a number from 0 to 1'],
    [Type.Boolean(), 'x', 'true or false'],
    [Type.String(), 1, 'a text'],
    [Type.String({ maxLength: 2 }), 'abc', 'a text of at most 2 characters'],
    [Type.String({ pattern: '^a$' }), 'b', 'a text that matches ^a$'],
    [Type.String({ pattern: '^a$', 'x-allowed': 'the letter a' }), 'b', 'the letter a'],
    [Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b'], 'a list of at most 1, each a text'],
    [Type.Object({}), 'x', 'a map'],
    [Type.Null(), 'x', 'nothing (null)'],
    [Type.Literal('a'), 'b', 'a'],
  ])('of %j', (schema, input, allowed) => {
    expect(problems(Type.Object({ value: schema }), { value: input })).toMatchObject([{ path: 'value', allowed }]);
  });
});

describe('a rule', () => {
  const schema = Type.Object({ low: Type.Integer(), high: Type.Integer(), other: Type.Integer({ default: 1 }) });
  const rule = {
    reads: ['low', 'high'],
    find: ({ low, high }: { low: number; high: number }) =>
      low <= high ? [] : [{ path: 'low', message: 'is above high', given: low, allowed: `at most ${high}` }],
  };
  const paths = (input: unknown) => {
    const checked = checkAgainst(schema, input, [rule]);
    return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
  };

  test('reports what the schema cannot say, beside what it says', () => {
    expect(paths({ low: 2, high: 1, other: 'x' })).toEqual(['other has the wrong type', 'low is above high']);
  });

  test('is not asked when a value that it reads is wrong', () => {
    expect(paths({ low: 2, high: '1' })).toEqual(['high has the wrong type']);
  });

  test('is silent when all is well', () => {
    expect(paths({ low: 1, high: 2 })).toEqual([]);
  });

  test.each([
    ['a list', [1, 'x', 9, 9], 'at[1] has the wrong type'],
    ['a map', { a: 1, b: 'x', c: 9, d: 9 }, 'at.b has the wrong type'],
  ])('about the entries of %s is asked of all but those that are wrong themselves', (_, at, wrong) => {
    const kind = Array.isArray(at) ? Type.Array(Type.Integer()) : Type.Record(Type.String(), Type.Integer());
    const asked: unknown[] = [];
    const small = {
      reads: ['at[]'],
      find: ({ at: given }: { readonly at: unknown }) => {
        asked.push(given);
        return Object.entries(Object(given)).flatMap(([key, value]) =>
          Number(value) < 9 ? [] : [{ path: key, message: 'is too large', allowed: 'less' }],
        );
      },
    };
    const checked = checkAgainst(Type.Object({ at: kind }), { at }, [small]);
    const found = checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`);
    const places = Array.isArray(at) ? ['2', '3'] : ['c', 'd'];
    expect(found).toEqual([wrong, ...places.map((place) => `${place} is too large`)]);
    expect(checkAgainst(Type.Object({ at: kind }), { at: 'x' }, [small]).ok).toBe(false);
    expect(asked).toHaveLength(1);
  });

  test('that fails is one problem with its place alone, and the others are asked', () => {
    const broken = {
      reads: ['other'],
      find: (): never => {
        throw new TypeError("Cannot use 'in' operator to search for 'ca' in hunter2");
      },
    };
    const checked = checkAgainst(schema, { low: 2, high: 1 }, [broken, rule]);
    expect(checked).toMatchObject({
      ok: false,
      problems: [{ path: 'other', message: 'cannot be checked' }, { path: 'low' }],
    });
    expect(JSON.stringify(checked)).not.toContain('hunter');
  });
});
