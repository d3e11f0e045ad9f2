import { expect, test } from '@jest/globals';
import { headersJson } from '../../../app/store/header-json.ts';

const parsed = (headers: Parameters<typeof headersJson>[0]) => JSON.parse(headersJson(headers));

test('headers keep their order and their repetitions', () => {
  const headers = ['2', 'b', '1', 'b'].map((key, index) => ({ key, value: Buffer.from(String(index)) }));
  expect(parsed(headers)).toEqual([
    { key: '2', value: '0' },
    { key: 'b', value: '1' },
    { key: '1', value: '2' },
    { key: 'b', value: '3' },
  ]);
});

test.each([
  ['text', Buffer.from('grün "quoted"'), 'grün "quoted"'],
  ['no UTF-8', Buffer.from([0xff, 0x00]), { base64: '/wA=' }],
  ['text with a NUL', Buffer.from('a\0'), { base64: 'YQA=' }],
  ['nothing', null, null],
  ['empty', Buffer.alloc(0), ''],
])('a value that is %s', (_, value, expected) => {
  expect(parsed([{ key: 'k', value }])).toEqual([{ key: 'k', value: expected }]);
});

test('a key with a NUL is kept as base64, since jsonb cannot hold it', () => {
  expect(parsed([{ key: 'a\0', value: null }])).toEqual([{ key: { base64: 'YQA=' }, value: null }]);
});

test('no headers are an empty array', () => {
  expect(parsed([])).toEqual([]);
});
