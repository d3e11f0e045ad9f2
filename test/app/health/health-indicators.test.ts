import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { diskSpaceIndicator } from '../../../app/health/health-indicators.ts';

const check = (path: string, threshold: number | string) =>
  diskSpaceIndicator({ path, threshold }).check(new AbortController().signal);

test('a file system with room is UP and says how much', async () => {
  const path = tmpdir();
  const { status, details } = await check(path, 1);
  expect(status).toBe('UP');
  expect(Object.keys(details ?? {})).toEqual(['total', 'free', 'threshold', 'path', 'exists']);
  expect(details).toMatchObject({ threshold: 1, path, exists: true });
  expect(details?.['free']).toBeGreaterThan(1);
});

test('fewer free bytes than the threshold are DOWN', async () => {
  expect((await check(tmpdir(), Number.MAX_SAFE_INTEGER)).status).toBe('DOWN');
});

test.each([
  ['10MB', 10_485_760],
  ['0B', 0],
  ['+3KB', 3_072],
  ['512', 512],
  ['7GB', 7_516_192_768],
  ['2TB', 2_199_023_255_552],
])('a threshold of %s is shown as %d bytes', async (threshold, bytes) => {
  expect((await check(tmpdir(), threshold)).details).toMatchObject({ threshold: bytes });
});

test('8191TB are more than there is', async () => {
  expect((await check(tmpdir(), '8191TB')).status).toBe('DOWN');
});

test('a path that does not exist is DOWN, whatever the threshold', async () => {
  const path = join(tmpdir(), `nowhere-${process.pid}`);
  expect(await check(path, 0)).toEqual({
    status: 'DOWN',
    details: { total: 0, free: 0, threshold: 0, path, exists: false },
  });
});
