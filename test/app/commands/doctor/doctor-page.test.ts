import { describe, expect, test } from '@jest/globals';
import { doctorJson, doctorPage } from '../../../../app/commands/doctor/doctor-page.ts';
import {
  away,
  exitCodeOf,
  type Finding,
  findingOf,
  ok,
  type Subject,
  skipped,
  warning,
  wrong,
} from '../../../../app/commands/doctor/finding.ts';
import { FatalError, OutageError } from '../../../../app/stream/ports/stream-errors.ts';

const SUBJECT: Subject = { area: 'Kafka', check: 'topic', name: 'orders' };
const ALL: readonly Finding[] = [
  ok(SUBJECT, 'fine'),
  warning(SUBJECT, 'look'),
  away(SUBJECT, 'gone'),
  wrong(SUBJECT, { message: 'bad', mend: 'GRANT a;\nGRANT b' }),
  skipped(SUBJECT, 'later'),
];

const ESCAPE = '\u001b[';

describe('the page', () => {
  test('has a word for each status, what mends it below, and no colour unless it is for a terminal', () => {
    expect(doctorPage(ALL, false)).toBe(`Kafka
  OK       topic orders: fine
  WARNING  topic orders: look
  AWAY     topic orders: gone
  WRONG    topic orders: bad
           -> GRANT a;
              GRANT b
  -        topic orders: later

1 WRONG, 1 AWAY, 1 WARNING, 1 OK
`);
  });

  test('has the words alone in colour on a terminal', () => {
    const page = doctorPage(ALL, true);
    expect(page).toContain(`  ${ESCAPE}32mOK     ${ESCAPE}0m  topic orders: fine\n`);
    expect(page).toContain(`  ${ESCAPE}33mAWAY   ${ESCAPE}0m  topic orders: gone\n`);
    expect(page).toContain(`  ${ESCAPE}31mWRONG  ${ESCAPE}0m  topic orders: bad\n`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(page.replaceAll(/\u001b\[\d+m/g, '')).toBe(doctorPage(ALL, false));
  });

  test('has the areas in their order, and lets no server steer a terminal', () => {
    const port: Subject = { area: 'management port', check: 'port', name: '8080' };
    const page = doctorPage([ok(port, 'free'), wrong(SUBJECT, `${ESCAPE}2Jbad\u0007\nmore`)], false);
    expect(page).toBe(`Kafka
  WRONG    topic orders: \\u{001b}[2Jbad\\u{0007}
           more

management port
  OK       port 8080: free

1 WRONG, 1 OK
`);
  });
});

test('of more than ten of a kind one line has all that are right, and JSON has each', () => {
  const tables = (count: number) =>
    Array.from({ length: count }, (_, nth) => ok({ area: 'PostgreSQL', check: 'table', name: `t${nth}` }, 'fits'));
  const missing = wrong({ area: 'PostgreSQL', check: 'table', name: 'gone' }, 'is not there');
  const host = ok({ area: 'PostgreSQL', check: 'host', name: 'db' }, 'lets the consumer in');
  expect(doctorPage([host, missing, ...tables(10)], false)).toBe(`PostgreSQL
  OK       host db: lets the consumer in
  OK       table: 10 of 11 are right; --json has a line for each
  WRONG    table gone: is not there

1 WRONG, 11 OK
`);
  expect(doctorPage([host, missing, ...tables(9)], false).split('\n')).toHaveLength(15);
  expect(
    doctorJson([missing, ...tables(10)])
      .trimEnd()
      .split('\n'),
  ).toHaveLength(11);
});

test('JSON has an object a line, with null for what there is not', () => {
  const lines = doctorJson(ALL).trimEnd().split('\n');
  expect(lines).toHaveLength(ALL.length);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    ...{ area: 'Kafka', check: 'topic', name: 'orders', status: 'ok' },
    ...{ code: null, message: 'fine', mend: null },
  });
});

describe('the exit code', () => {
  const [fine, look, gone, bad, later] = ALL.map((finding) => [finding]);

  test.each([
    ['nothing at all', [], 0, 0],
    ['all well', fine, 0, 0],
    ['a warning', look, 0, 0],
    ['what was not looked at', later, 0, 0],
    ['an outage', gone, 1, 0],
    ['a fault', bad, 78, 78],
    ['a fault and an outage', [...(gone ?? []), ...(bad ?? [])], 78, 78],
  ] as const)('of %s is right, also where outages are ignored', (_, findings = [], code, ignoring) => {
    expect(exitCodeOf(findings, false)).toBe(code);
    expect(exitCodeOf(findings, true)).toBe(ignoring);
  });
});

describe('an error', () => {
  test('that is an outage is away, and a fatal one is wrong by its code, without what a start would do next', () => {
    expect(findingOf(SUBJECT, new OutageError('no answer'))).toEqual(away(SUBJECT, 'no answer'));
    const fatal = new FatalError('TABLE_MISMATCH', 'columns differ; alter them, then start again. They are of x');
    expect(findingOf(SUBJECT, fatal)).toEqual(
      wrong(SUBJECT, { message: 'columns differ; alter them. They are of x', code: 'TABLE_MISMATCH' }),
    );
  });

  test.each([new TypeError('x is undefined'), FatalError.from(new TypeError('x is undefined'))])(
    'of the program is none of both: %s',
    (error) => {
      expect(() => findingOf(SUBJECT, error)).toThrow(error);
    },
  );
});
