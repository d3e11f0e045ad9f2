import { expect, test } from '@jest/globals';
import { isCopyTag, rowsStored } from '../../../../app/store/copy/binary-copy.ts';

test('the rows stored are those of the first COPY, by its tag; none where no COPY was completed', () => {
  expect(rowsStored(['BEGIN', 'UPDATE 7', 'COPY 3', 'COPY 4', 'COMMIT'])).toBe(3);
  expect([rowsStored(['BEGIN', 'UPDATE 7']), rowsStored([])]).toEqual([0, 0]);
  expect(['COPY 3', 'COPYING', 'MERGE 3'].map(isCopyTag)).toEqual([true, false, false]);
});
