import { expect, test } from '@jest/globals';
import { buildInfoOf } from '../../contract/build-info.ts';

const COMMIT = '3a2e408b2f8d1f5a0c9c6c2a3f1b2d4e5f607182';

test('what the build wrote is taken, times in UTC', () => {
  const written = {
    time: '2026-11-21T14:50:31+01:00',
    commit: COMMIT,
    commitTime: '2026-11-21T13:00:00Z',
    branch: 'main',
    dirty: true,
  };
  expect(buildInfoOf(written)).toEqual({
    time: '2026-11-21T13:50:31.000Z',
    commit: COMMIT,
    commitTime: '2026-11-21T13:00:00.000Z',
    branch: 'main',
    dirty: true,
  });
});

test.each([
  [undefined],
  [null],
  ['text'],
  [[]],
  [{ time: 'yesterday', commit: 'unknown', commitTime: '', branch: '' }],
  [{ time: 1, commit: 1, branch: {}, dirty: 'yes' }],
])('what is not what it should be is left out: %j', (written) => {
  expect(buildInfoOf(written)).toEqual({});
});
