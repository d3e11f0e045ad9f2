import { describe, expect, test } from '@jest/globals';
import { JsonScanner, MOST_NESTED } from '../../../app/tables/json/json-scanner.ts';

const verdictOn = (json: string | Buffer) => new JsonScanner([['a']]).scan(Buffer.from(json));

test.each([
  ['invalid_json', ''],
  ['invalid_json', '{"a":1} 2'],
  ['invalid_json', '["\\ud800"]'],
  ['invalid_json', '["\\udc00"]'],
  ['invalid_json', '["\\udc00\\ud800"]'],
  ['invalid_json', '["\\ud800\\u0000"]'],
  ['invalid_json', '{"a":tru}'],
  ['invalid_json', 'nul'],
  ['invalid_json', '"\t"'],
  ['invalid_json', '\ufeff{}'],
  ['invalid_json', '\f1'],
  ['invalid_utf8', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['invalid_utf8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['invalid_utf8', Buffer.from('{oops \xff', 'latin1')],
  ['nul_character', '{"a":"\0"}'],
  ['nul_character', '{"a":1}\0'],
  ['nul_character', '{"a":"\\u0000'],
  ['number_out_of_range', '1e131072'],
  ['number_out_of_range', '-0.01e131074'],
  ['number_out_of_range', '1e-16384'],
  ['number_out_of_range', '0e-16384'],
  ['number_out_of_range', '0e1073741824'],
  ['number_out_of_range', `0.${'0'.repeat(16_384)}`],
  ['number_out_of_range', '9'.repeat(131_073)],
  ['nesting_too_deep', '['.repeat(MOST_NESTED + 1)],
  ['nesting_too_deep', '{"a":['.repeat(1_000_000)],
])('%s is what is said of what jsonb refuses (case %#)', (fault, json) => {
  expect(verdictOn(json)).toBe(fault);
});

test.each([
  '1e131071',
  '-0.01e131073',
  '9999e131068',
  '1e-16383',
  '1.5e-16382',
  '0e1073741823',
  `0.${'0'.repeat(16_383)}`,
  '9'.repeat(131_072),
  `${'['.repeat(MOST_NESTED)}${']'.repeat(MOST_NESTED)}`,
  '"\\ud83d\\udCB6"',
  ' \t\r\n0 ',
])('what jsonb just about takes is taken (case %#)', (json) => {
  expect(verdictOn(json)).toBeNull();
});

describe('\\u0000', () => {
  const scanner = new JsonScanner([['a'], ['b'], ['c'], ['d'], ['e']]);
  test('is found in the value that it is in', () => {
    const text = '{"a":"\\\\u0000","b":"\\\\\\u0000","c":{"\\u0000":1},"d":["\\n"]}';
    expect(scanner.scan(Buffer.from(text))).toBeNull();
    expect(scanner.hasNul).toBe(true);
    expect([0, 1, 2, 3, 4].map((path) => scanner.holdsNul(path))).toEqual([false, true, true, false, false]);
  });

  test('is not in a document with a backslash before u0000', () => {
    expect(scanner.scan(Buffer.from('{"a":"\\\\u0000"}'))).toBeNull();
    expect([scanner.hasNul, scanner.holdsNul(0)]).toEqual([false, false]);
  });
});

describe('fields that no path begins with', () => {
  function scannerOf(...paths: string[][]) {
    const names: (string | null)[] = [];
    const scanner = new JsonScanner(paths, (name) => names.push(name));
    const scan = (json: unknown) => scanner.scan(Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)));
    return { scanner, names, scan };
  }

  test('are counted in each document and named once', () => {
    const { scanner, names, scan } = scannerOf(['a'], ['b', 'c']);
    for (const text of ['{"a":1,"x":{"z":1},"b":{"y":1},"x":2,"\\u00fc":3}', '{"ü":1,"x":2,"w":3}']) {
      expect(scan(text)).toBeNull();
      expect(scanner.unmappedFields).toBe(3);
    }
    expect(scan('{"a":1}')).toBeNull();
    expect(scanner.unmappedFields).toBe(0);
    expect(names).toEqual(['x', 'ü', 'w']);
  });

  test('are all fields where columns take none', () => {
    const { scanner, names, scan } = scannerOf();
    expect([scan({ x: 1, y: 2 }), scanner.unmappedFields, names]).toEqual([null, 2, ['x', 'y']]);
  });

  test('are not named by a document that is refused', () => {
    const { names, scan } = scannerOf(['a']);
    expect(scan('{"x":1')).toBe('invalid_json');
    expect(scan('{"a":1}')).toBeNull();
    expect(names).toEqual([]);
  });

  test('are not there where the whole value is wanted, or is no object', () => {
    const { scanner, names, scan } = scannerOf([], ['a']);
    expect([scan({ x: 1 }), scanner.unmappedFields, names]).toEqual([null, 0, []]);
    const other = scannerOf(['a']);
    expect([other.scan([{ x: 1 }]), other.scanner.unmappedFields, other.names]).toEqual([null, 0, []]);
  });

  test('are named a hundred times at most, never with a long name, and counted all the same', () => {
    const { scanner, names, scan } = scannerOf(['a']);
    expect(scan({ ['x'.repeat(129)]: 1, ['x'.repeat(128)]: 1 })).toBeNull();
    for (let from = 0; from < 300; from += 60) {
      expect(scan(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${from + index}`, 1])))).toBeNull();
      expect(scanner.unmappedFields).toBe(60);
    }
    expect(names).toEqual([null, 'x'.repeat(128), ...Array.from({ length: 99 }, (_, index) => `f${index}`)]);
  });

  test('are reported once as more than a hundred, with the first that is not named', () => {
    const { names, scan } = scannerOf(['a']);
    const object = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${from + index}`, 1]));
    expect([scan(object(0, 100)), names.length, names.includes(null)]).toEqual([null, 100, false]);
    expect([scan(object(0, 100)), names.length]).toEqual([null, 100]);
    expect([scan(object(100, 2)), scan(object(102, 1)), names.length, names.at(-1)]).toEqual([null, null, 101, null]);
  });
});
