import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { consumerList } from '../../synthesis/consumer-list.ts';
import { locateIn, overlay } from '../../synthesis/overlay.ts';
import { readSourceFile } from '../../synthesis/source-file.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'consumer-list-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function list(...texts: string[]) {
  const sources = texts.map((text, index) => {
    const path = join(folder, `${index}.yaml`);
    writeFileSync(path, text);
    return readSourceFile(path, folder);
  });
  const { consumers, problems } = consumerList(sources);
  return {
    documents: consumers.map(({ layers }) => layers.map(({ value }) => value).reduce(overlay, undefined)),
    layers: consumers.map(({ layers }) => layers),
    problems: problems.map(({ path, message, source }) => `${path} ${message} @ ${source}`),
  };
}

const BASE =
  'replicas: 1\nkafka: { a: 1 }\nconsumers:\n  - { name: a, kafka: { b: 2 } }\n  - { name: b, replicas: 5 }\n';

test('files without a list are one consumer', () => {
  expect(list('name: x\na: 1', 'a: 2').documents).toEqual([{ name: 'x', a: 2 }]);
});

test('each entry is laid over what stands above the list', () => {
  expect(list(BASE).documents).toEqual([
    { name: 'a', replicas: 1, kafka: { a: 1, b: 2 } },
    { name: 'b', replicas: 5, kafka: { a: 1 } },
  ]);
});

test('an overlay finds the entries by name, adds further ones, and gives way to what an entry says', () => {
  expect(list(BASE, 'replicas: 2\nconsumers:\n  - { name: c }\n  - { name: a, kafka: { b: 3 } }\n').documents).toEqual([
    { name: 'a', replicas: 2, kafka: { a: 1, b: 3 } },
    { name: 'b', replicas: 5, kafka: { a: 1 } },
    { name: 'c', replicas: 2, kafka: { a: 1 } },
  ]);
});

test('null in an entry removes what stands above the list, or in the entry of the file below', () => {
  expect(list('a: 1\nconsumers: [{ name: x, a: null }]').documents).toEqual([{ name: 'x' }]);
  expect(list('a: 1\nconsumers: [{ name: x, a: 2 }]', 'consumers: [{ name: x, a: null }]').documents).toEqual([
    { name: 'x' },
  ]);
});

test('a value is placed in the file and the entry that it comes from', () => {
  const [a = [], b = []] = list(BASE, 'replicas: 2\nconsumers:\n  - name: a\n    kafka: { b: 3 }\n').layers;
  expect([['kafka', 'b'], ['kafka', 'a'], ['replicas'], ['missing']].map((path) => locateIn(a, path))).toEqual([
    '1.yaml:4:17',
    '0.yaml:2:13',
    '1.yaml:1:11',
    '1.yaml:3:5',
  ]);
  expect(locateIn(b, ['replicas'])).toBe('0.yaml:5:26');
});

test.each<[string, string, string[]]>([
  [
    'a name twice',
    'consumers:\n  - { name: a }\n  - { name: a }\n',
    ['consumers[1].name is that of consumers[0] as well (0.yaml:2:13) @ 0.yaml:3:13'],
  ],
  ['no name', 'consumers:\n  - { replicas: 1 }\n', ['consumers[0].name is missing or no text @ 0.yaml:2:5']],
  ['a name that is no text', 'consumers: [{ name: 5 }]', ['consumers[0].name is missing or no text @ 0.yaml:1:21']],
  ['an entry that is no map', 'consumers: [a]', ['consumers[0].name is missing or no text @ 0.yaml:1:13']],
  ['an empty list', 'consumers: []', ['consumers is no list of consumers @ 0.yaml:1:12']],
  ['a map', 'consumers: { a: {} }', ['consumers is no list of consumers @ 0.yaml:1:12']],
  ['nothing', 'consumers:', ['consumers is no list of consumers @ 0.yaml:1:11']],
  [
    'a name above the list',
    'name: x\nconsumers: [{ name: a }]',
    ['name is above a list of consumers, each of which has its name @ 0.yaml:1:7'],
  ],
])('%s is a problem with its place', (_name, text, expected) => {
  expect(list(text).problems).toEqual(expected);
});
