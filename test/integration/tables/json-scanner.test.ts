import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { reasonOfSqlstate } from '../../../app/store/copy/refused-row.ts';
import { JsonScanner, MOST_NESTED } from '../../../app/tables/json/json-scanner.ts';
import { withDatabase } from '../stack/database.ts';
import { longTest } from '../stack/long-test.ts';

/** A document, and the reasons for which it is refused; null where it is taken. */
interface Judged {
  readonly document: Buffer;
  /** As a document of json, and of jsonb. */
  readonly scanner: { readonly json: string | null; readonly jsonb: string | null };
  readonly postgres: { readonly json: string | null; readonly jsonb: string | null };
}

const scanner = new JsonScanner([['a', 'b'], ['b', 0], []]);

function byScanner(document: Buffer): Judged['scanner'] {
  const json = scanner.scan(document);
  return { json, jsonb: json ?? (scanner.hasNul ? 'nul_character' : null) };
}

const REFUSAL = (schema: string, type: string) => `
  CREATE FUNCTION ${schema}.refusal_by_${type}(document bytea) RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM convert_from(document, 'UTF8')::${type};
    RETURN NULL;
  EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
  END $$`;

type Judge = (documents: readonly Buffer[]) => Promise<readonly Judged[]>;

const byState = (sqlstate: string | null) => (sqlstate === null ? null : reasonOfSqlstate(sqlstate));

/** Gives the work what has documents judged by both, in one statement. */
const withJudge = (work: (judge: Judge) => Promise<void>) =>
  withDatabase(async ({ client, schema }) => {
    await client.query(`CREATE SCHEMA ${schema}; ${REFUSAL(schema, 'json')}; ${REFUSAL(schema, 'jsonb')}`);
    await work(async (documents) => {
      const { rows } = await client.query<{ document: Buffer; json: string | null; jsonb: string | null }>(
        `SELECT document, ${schema}.refusal_by_json(document) AS json, ${schema}.refusal_by_jsonb(document) AS jsonb
         FROM unnest($1::bytea[]) WITH ORDINALITY AS documents (document, n) ORDER BY n`,
        [documents],
      );
      return rows.map(({ document, json, jsonb }) => ({
        document,
        scanner: byScanner(document),
        postgres: { json: byState(json), jsonb: byState(jsonb) },
      }));
    });
  });

/** What the scanner says otherwise than jsonb, on purpose: of which documents, and what jsonb says of them. */
const DIFFERENCES = [
  {
    why: 'a byte 0 is a NUL character, as it is for a record of the table records',
    example: '{"a":"\0"}',
    scanner: 'nul_character',
    isIn: (document: Buffer) => document.includes(0),
    postgres: ['invalid_utf8'],
  },
  {
    why: 'nesting is too deep at the same depth whatever the server is, and what is below is not looked at',
    example: `${'['.repeat(12_000)}${']'.repeat(12_000)}`,
    scanner: 'nesting_too_deep',
    isIn: (document: Buffer) => document.length > MOST_NESTED,
    postgres: [null, 'invalid_json'],
  },
  {
    why: 'of two faults the first is reported; PostgreSQL reads a string before it minds that none may be there',
    example: '{"a" "\\u0000"}',
    scanner: 'invalid_json',
    isIn: (document: Buffer) => document.includes('\\u0000'),
    postgres: ['nul_character'],
  },
  {
    why: 'likewise it reads what is behind a number before it minds how large the number is',
    example: '[1e200000 oops',
    scanner: 'number_out_of_range',
    isIn: (document: Buffer) => /[eE][+-]?\d{4}/.test(document.toString('latin1')),
    postgres: ['invalid_json', 'nul_character'],
  },
];

const isDeliberate = ({ document, scanner: ours, postgres }: Judged) =>
  DIFFERENCES.some(
    (each) => each.scanner === ours.jsonb && each.isIn(document) && each.postgres.includes(postgres.jsonb),
  );

/** Whether both say the same of jsonb, and json takes what the scanner says it does: it minds less. */
const isSame = ({ scanner: ours, postgres }: Judged) =>
  ours.jsonb === postgres.jsonb && (ours.json !== null || postgres.json === null);

/** What is judged otherwise, in a form that a message can show. */
const differing = (judged: readonly Judged[]) =>
  judged
    .filter((each) => !(isSame(each) || isDeliberate(each)))
    .map(({ document, ...verdicts }) => ({ document: document.toString('latin1').slice(-300), ...verdicts }));

async function casesOfSuite(): Promise<Record<string, string>> {
  const file = await readFile(new URL('json-test-suite.json', import.meta.url), 'utf8');
  return {
    ...(JSON.parse(file) as { cases: Record<string, string> }).cases,
    n_structure_100000_opening_arrays: '['.repeat(100_000),
    n_structure_open_array_object: '[{"":'.repeat(50_000),
  };
}

test('the cases of JSONTestSuite are judged as by jsonb', () =>
  withJudge(async (judge) => {
    const cases = await casesOfSuite();
    const judged = await judge(Object.values(cases).map((text) => Buffer.from(text, 'latin1')));
    expect(judged).toHaveLength(318);
    expect(differing(judged)).toEqual([]);
    const taken = Object.keys(cases).filter((_, index) => judged[index]?.scanner.json === null);
    expect(taken.filter((name) => !name.startsWith('i_'))).toEqual(
      Object.keys(cases).filter((name) => name.startsWith('y_')),
    );
  }));

test('what is judged otherwise than by jsonb is so on purpose', () =>
  withJudge(async (judge) => {
    const judged = await judge(DIFFERENCES.map(({ example }) => Buffer.from(example)));
    expect(judged.map((each) => isSame(each) || !isDeliberate(each))).toEqual(DIFFERENCES.map(() => false));
  }));

const MANTISSAS = [
  '0',
  '-0',
  '0.0',
  '1',
  '-1',
  '9999',
  '10000',
  '0.1',
  '0.00001',
  '-123.4500',
  '9'.repeat(20),
  `0.${'0'.repeat(16_382)}1`,
  '9'.repeat(131_072),
  '1'.repeat(131_073),
];
/** Where the range of numeric ends; 1,073,741,823 is refused with a zero before PostgreSQL 16, and taken since. */
const ENDS = [
  0, 131_068, 131_071, 131_077, -16_380, -16_383, -16_386, 1_073_741_821, 1_073_741_825, 2_147_483_648, -2_147_483_648,
  1e20, -1e20,
];
const EXPONENTS = ENDS.flatMap((end) => [-2, -1, 0, 1, 2].map((near) => BigInt(end) + BigInt(near))).filter(
  (exponent) => exponent !== 1_073_741_823n,
);

test('a number is too large or too exact where it is for numeric', () =>
  withJudge(async (judge) => {
    const documents = MANTISSAS.flatMap((mantissa) => [
      mantissa,
      ...EXPONENTS.map((exponent) => `${mantissa}e${exponent}`),
    ]);
    const judged = await judge(documents.map((text) => Buffer.from(text)));
    expect(differing(judged)).toEqual([]);
    expect(new Set(judged.map(({ scanner: ours }) => ours.jsonb))).toEqual(new Set([null, 'number_out_of_range']));
  }));

const RECORD = JSON.stringify({
  id: 17,
  name: 'Zoë 💶\n',
  total: -1.5e-7,
  tags: ['a', { b: null }, []],
  paid: true,
  a: {},
});
const ESCAPED = '{"\\u0061":"\\ud83d\\udCB6 \\u00fc\\\\\\/","a":{"b":0.10,"b":[false]},"n":1E+5,"l":[[1,2],{}]}';
const record = fc.oneof(fc.constantFrom(RECORD, ESCAPED), fc.json({ stringUnit: 'binary' }));

/** In latin1: what JSON is made of, and what it must not have. */
const FRAGMENTS = [
  ...'"\\,:{}[] \t\v\0\x1f\x7f\x80\xff0-.e',
  ...'\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xc2\xa0|\xef\xbb\xbf'.split('|'),
  ...'\\u0000|\\ud83d|\\udcb6|\\u12|\\x|1e9999999|1e-20000|true|nul|NaN|/**/'.split('|'),
];
const change = fc.record({
  at: fc.nat(),
  remove: fc.nat(3),
  insert: fc.oneof(fc.constant(''), fc.constantFrom(...FRAGMENTS)),
});

/** Records of which some bytes are not as they were. */
const changed = fc.tuple(record, fc.array(change, { maxLength: 3 })).map(([text, changes]) =>
  changes.reduce((bytes, { at, remove, insert }) => {
    const from = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, from), Buffer.from(insert, 'latin1'), bytes.subarray(from + remove)]);
  }, Buffer.from(text)),
);

const agreement = (judge: Judge) =>
  fc.asyncProperty(fc.array(changed, { minLength: 1, maxLength: 1_000, size: 'max' }), async (documents) => {
    expect(differing(await judge(documents))).toEqual([]);
  });

/** The same records each time: the long test finds a rare mistake, not a change that has nothing to do with it. */
const SEED = 1;

test('changed records are judged as by jsonb', () =>
  withJudge((judge) => fc.assert(agreement(judge), { numRuns: 20, seed: SEED })));

longTest('ever other changed records are judged as by jsonb', () =>
  withJudge((judge) => fc.assert(agreement(judge), { numRuns: 1_000 })),
);
