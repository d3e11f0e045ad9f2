import { expect, test } from '@jest/globals';
import { MessageIndex } from '../../../../app/formats/protobuf/registered-messages.ts';

const read = (hex: string) => {
  const bytes = Buffer.from(`ff${hex}`, 'hex');
  const index = new MessageIndex();
  return index.read(bytes, 1, bytes.length) ? [index.path, index.at - 1] : null;
};

test.each([
  ['00', [[0], 1]],
  ['00ff', [[0], 1]],
  ['0200', [[0], 2]],
  ['0202aa', [[1], 2]],
  ['04020001', [[1, 0], 3]],
  ['028001aa', [[64], 3]],
  ['06000204', [[0, 1, 2], 4]],
])('indexes are %s as %j', (hex, expected) => expect(read(hex)).toEqual(expected));

test.each(['', '02', '0201', '01', '03', '80', '0280', 'ca01', '02ffffffff7f'])('%s are none', (hex) => {
  expect(read(hex)).toBeNull();
});
