import { describe, expect, test } from '@jest/globals';
import {
  discardedJson,
  jsonLine,
  letterLines,
  outcomeJson,
  outcomeLine,
  ReplayTally,
  tablePage,
} from '../../../../app/commands/dead-letters/dead-letters-output.ts';
import type { ReplayOutcome } from '../../../../app/commands/dead-letters/dead-letters-replay.ts';
import type { ListedDeadLetter } from '../../../../app/commands/dead-letters/dead-letters-table.ts';
import { printable } from '../../../../app/logging/printable-text.ts';
import type { DeadLetterReason } from '../../../../contract/dead-letter-reasons.ts';

const aLetter = (fields: Partial<ListedDeadLetter> = {}): ListedDeadLetter => ({
  groupId: 'group',
  topic: 'orders',
  partition: 3,
  offset: 12n,
  reason: 'invalid_json',
  error: 'wrong',
  failedAt: new Date(0),
  target: null,
  targetColumn: null,
  milliseconds: null,
  headers: [],
  ...fields,
});

const escapeKey = String.fromCodePoint(0x1b);

describe('text for a terminal', () => {
  test('holds nothing that a terminal acts on', () => {
    expect(printable(`a${escapeKey}[31mb\r\nc${String.fromCodePoint(0x9b)}d${String.fromCodePoint(0x202e)}e`)).toBe(
      'a\\u{001b}[31mb\\u{000d}\\u{000a}c\\u{009b}d\\u{202e}e',
    );
  });

  test('keeps everything that is readable', () => {
    expect(printable('grün ✓ 𝄞 "\\"')).toBe('grün ✓ 𝄞 "\\"');
  });
});

describe('a page of the table', () => {
  test('begins with the headings, and its columns stand below each other', () => {
    const { lines } = tablePage([aLetter(), aLetter({ topic: 'a-longer-topic' })], []);
    expect(lines).toEqual([
      'GROUP  TOPIC           PARTITION  OFFSET  REASON        TARGET  FAILED AT                 ERROR',
      'group  orders          3          12      invalid_json  -       1970-01-01T00:00:00.000Z  wrong',
      'group  a-longer-topic  3          12      invalid_json  -       1970-01-01T00:00:00.000Z  wrong',
    ]);
  });

  test('names the table and the column that cannot have a record', () => {
    const lines = (fields: Partial<ListedDeadLetter>) => tablePage([aLetter(fields)], []).lines[1];
    expect(lines({ target: 'public.orders', targetColumn: 'total' })).toContain(
      'invalid_json  public.orders.total  1970',
    );
    expect(lines({ target: 'public.orders' })).toContain('invalid_json  public.orders  1970');
  });

  test('that follows another has its columns and no headings', () => {
    const first = tablePage([aLetter({ topic: 'a-longer-topic' })], []);
    const { lines } = tablePage([aLetter()], first.widths);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf('12')).toBe(first.lines[1]?.indexOf('12'));
  });

  test('shows key and value below their letter: as text where they are, else as base64', () => {
    const content = { key: Buffer.from([0xff]), value: Buffer.from(`{"a":\n${escapeKey}`) };
    expect(tablePage([aLetter({ content })], []).lines.slice(2)).toEqual([
      '    key    base64 /w==',
      '    value  {"a":\\u{000a}\\u{001b}',
    ]);
    const none = tablePage([aLetter({ content: { key: null, value: null } })], []);
    expect(none.lines.slice(2)).toEqual(['    key    null', '    value  null']);
  });
});

describe('a line of JSON', () => {
  const fields = {
    group: 'group',
    topic: 'orders',
    partition: 3,
    offset: 12,
    reason: 'invalid_json',
    error: 'wrong',
    failedAt: '1970-01-01T00:00:00.000Z',
    sqlstate: null,
    sqlstateMeaning: null,
    timestamp: null,
    headers: [],
    target: null,
    targetColumn: null,
  };

  test('has no key and no value unless they were asked for', () => {
    expect(JSON.parse(jsonLine(aLetter()))).toEqual(fields);
  });

  test('has key and value as text, as base64 or as null', () => {
    const content = { key: Buffer.from('k'), value: Buffer.from([0]) };
    expect(JSON.parse(jsonLine(aLetter({ content })))).toEqual({ ...fields, key: 'k', value: { base64: 'AA==' } });
    const nothing = { key: null, value: null };
    expect(JSON.parse(jsonLine(aLetter({ content: nothing })))).toEqual({ ...fields, ...nothing });
  });

  test('has the table and the column that cannot have the record', () => {
    const target = { target: 'public.orders', targetColumn: 'total' };
    expect(JSON.parse(jsonLine(aLetter(target)))).toEqual({ ...fields, ...target });
  });

  test('has the timestamp, the headers, and the SQLSTATE with what it means', () => {
    const headers = [
      { key: 'source', value: 'shop' },
      { key: 'raw', value: { base64: '/w==' } },
    ];
    const error = 'SQLSTATE 22P02 (invalid text for the type): refused by shop.orders, column "total"';
    expect(JSON.parse(jsonLine(aLetter({ error, headers, milliseconds: '1' })))).toEqual({
      ...fields,
      error,
      sqlstate: '22P02',
      sqlstateMeaning: 'invalid text for the type',
      timestamp: '1970-01-01T00:00:00.001Z',
      headers,
    });
    const beyond = JSON.parse(jsonLine(aLetter({ milliseconds: '9224318015999999' })));
    expect(beyond).toMatchObject({ timestamp: '9224318015999999' });
  });

  test('says who decided what about a letter that was discarded', () => {
    expect(JSON.parse(discardedJson(aLetter(), 'test data'))).toEqual({
      outcome: 'discarded',
      because: 'test data',
      ...fields,
    });
  });

  test('says how the replay of its letter ended', () => {
    expect(JSON.parse(outcomeJson({ kind: 'moved', letter: aLetter() }))).toEqual({ outcome: 'moved', ...fields });
  });
});

test('one letter is shown as a whole, and steers no terminal', () => {
  const headers = [
    { key: 'source', value: `s${escapeKey}` },
    { key: { base64: '/w==' }, value: null },
  ];
  const content = { key: Buffer.from([0xff]), value: Buffer.from('{"total": "many"}') };
  const why = { reason: 'value_does_not_fit', error: 'SQLSTATE 22P02: refused', target: 'shop.orders' } as const;
  expect(letterLines(aLetter({ ...why, targetColumn: 'total', milliseconds: '0', headers, content }))).toEqual([
    'orders/3/12 of group group',
    '    reason    value_does_not_fit: a value does not fit its column in a table of your own',
    '    error     SQLSTATE 22P02: refused',
    '    SQLSTATE  22P02, invalid text for the type',
    '    target    shop.orders.total',
    '    failed at 1970-01-01T00:00:00.000Z',
    '    timestamp 1970-01-01T00:00:00.000Z',
    '    header    source: s\\u{001b}',
    '    header    base64 /w==: null',
    '    key       base64 /w==',
    '    value     {"total": "many"}',
  ]);
});

test('a replay names the letters that stay and why, and no others', () => {
  expect(outcomeLine({ kind: 'moved', letter: aLetter() })).toBeNull();
  expect(outcomeLine({ kind: 'refused', letter: aLetter() })).toBe(
    'orders/3 offset 12 of group group still does not fit: invalid_json: wrong',
  );
  expect(outcomeLine({ kind: 'present', presentIn: 'records', letter: aLetter() })).toMatch(/is in records already/);
  expect(outcomeLine({ kind: 'present', presentIn: 'shop.customers', letter: aLetter() })).toMatch(
    /has a key that shop\.customers has a row of.*--overwrite/,
  );
});

const NO_TARGET = { target: null, targetColumn: null };

const outcome = (kind: ReplayOutcome['kind'], reason: DeadLetterReason = 'invalid_json'): ReplayOutcome => ({
  kind,
  presentIn: 'records',
  letter: {
    groupId: 'g',
    topic: 't',
    partition: 0,
    offset: 0n,
    reason,
    error: 'e',
    failedAt: new Date(0),
    milliseconds: null,
    headers: [],
    ...NO_TARGET,
  },
});

function tallyOf(outcomes: readonly ReplayOutcome[], isDryRun = false): ReplayTally {
  const tally = new ReplayTally(1_234, isDryRun);
  for (const each of outcomes) {
    tally.add(each);
  }
  return tally;
}

describe('the summary of a replay', () => {
  test('counts what was moved', () => {
    const tally = tallyOf([outcome('moved'), outcome('moved')]);
    expect(tally.summary()).toBe('2 of 1,234 dead letters, 2 moved');
    expect(tally.isClean).toBe(true);
  });

  test('counts what stayed by its reason, the most frequent first', () => {
    const tally = tallyOf([
      outcome('moved'),
      outcome('refused', 'key_not_text'),
      outcome('refused'),
      outcome('refused'),
      outcome('present'),
    ]);
    expect(tally.summary()).toBe(
      '5 of 1,234 dead letters, 1 moved, 3 still refused (2 invalid_json, 1 key_not_text), 1 present already',
    );
    expect(tally.isClean).toBe(false);
  });

  test('of a dry run says that nothing was changed', () => {
    expect(tallyOf([outcome('moved')], true).summary()).toBe(
      '1 of 1,234 dead letters, 1 would be moved; nothing was changed (--dry-run)',
    );
  });
});

test.each(['refused', 'present'] as const)('a letter that is %s is one that stayed', (kind) => {
  expect(tallyOf([outcome('moved'), outcome(kind)]).isClean).toBe(false);
});
