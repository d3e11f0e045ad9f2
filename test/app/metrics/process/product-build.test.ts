import { expect, test } from '@jest/globals';
import { productBuild } from '../../../../app/metrics/process/product-build.ts';
import { BUILD_INFO_FILE } from '../../../../contract/build-info.ts';
import { PRODUCT_VERSION } from '../../../../contract/product-version.ts';
import { folderWith } from '../../configuration/folder.ts';

test('the build is the version, and what the file beside package.json says', () => {
  const folder = folderWith({ [BUILD_INFO_FILE]: '{ "time": "2026-11-21T13:50:31Z", "branch": "main" }' });
  expect(productBuild(folder)).toEqual({
    version: PRODUCT_VERSION,
    time: '2026-11-21T13:50:31.000Z',
    branch: 'main',
  });
});

test.each([{}, { [BUILD_INFO_FILE]: '{ "time":' }, { [BUILD_INFO_FILE]: '' }])(
  'without a file that can be read it is the version alone: %j',
  (files) => {
    expect(productBuild(folderWith(files))).toEqual({ version: PRODUCT_VERSION });
  },
);
