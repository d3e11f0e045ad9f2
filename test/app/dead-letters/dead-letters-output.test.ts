import { describe, expect, test } from '@jest/globals';
import {
  jsonLine,
  outcomeJson,
  outcomeLine,
  printable,
  tablePage,
} from '../../../app/dead-letters/dead-letters-output.ts';
import type { ListedDeadLetter } from '../../../app/dead-letters/list-dead-letters.ts';

const aLetter = (fields: Partial<ListedDeadLetter> = {}): ListedDeadLetter => ({
  groupId: 'group',
  topic: 'orders',
  partition: 3,
  offset: 12n,
  reason: 'invalid_json',
  error: 'wrong',
  failedAt: new Date(0),
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
      'GROUP  TOPIC           PARTITION  OFFSET  REASON        FAILED AT                 ERROR',
      'group  orders          3          12      invalid_json  1970-01-01T00:00:00.000Z  wrong',
      'group  a-longer-topic  3          12      invalid_json  1970-01-01T00:00:00.000Z  wrong',
    ]);
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

  test('says how the replay of its letter ended', () => {
    expect(JSON.parse(outcomeJson({ kind: 'moved', letter: aLetter() }))).toEqual({ outcome: 'moved', ...fields });
  });
});

test('a replay names the letters that stay and why, and no others', () => {
  expect(outcomeLine({ kind: 'moved', letter: aLetter() })).toBeNull();
  expect(outcomeLine({ kind: 'refused', letter: aLetter() })).toBe(
    'orders/3 offset 12 of group group still does not fit: invalid_json: wrong',
  );
  expect(outcomeLine({ kind: 'present', letter: aLetter() })).toMatch(/is in records already/);
});
