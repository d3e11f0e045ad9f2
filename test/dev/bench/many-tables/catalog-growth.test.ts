import { expect, test } from '@jest/globals';
import { catalogGrowth } from '../../../../dev/bench/many-tables/catalog-growth.ts';

test('what catalogs grew by in some seconds is what they grow by in an hour', () => {
  const state = { catalog: 'pg_class', bytes: 81_920, live: 400, dead: 3, written: 1_000 };
  const later = { ...state, bytes: 98_304, dead: 8, written: 1_010 };
  expect(catalogGrowth([state], [later], 60)).toEqual([{ ...later, bytesAnHour: 983_040, writtenAnHour: 600 }]);
  expect(catalogGrowth([state], [state], 60)).toEqual([{ ...state, bytesAnHour: 0, writtenAnHour: 0 }]);
});
