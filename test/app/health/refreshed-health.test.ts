import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Health } from '../../../app/health/health.ts';
import { RefreshedHealth, UpTime } from '../../../app/health/refreshed-health.ts';

const TIMING = { intervalMs: 2_000, timeoutMs: 3_000 };
const UP: Health = { status: 'UP' };

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

/** An indicator with checks that the test settles. */
function manualIndicator() {
  const asked: { resolve: (health: Health) => void; reject: (error: Error) => void; signal: AbortSignal }[] = [];
  const check = (signal: AbortSignal) =>
    new Promise<Health>((resolve, reject) => {
      asked.push({ resolve, reject, signal });
    });
  return { asked, indicator: { name: 'db', context: { host: 'db' }, check } };
}

test('nothing is known before the first result', () => {
  const { indicator } = manualIndicator();
  const health = new RefreshedHealth(indicator, TIMING);
  health.start();
  expect(health.current()).toBeUndefined();
  health.stop();
});

test('the last finished result stays until the next one is there', async () => {
  const { asked, indicator } = manualIndicator();
  const health = new RefreshedHealth(indicator, TIMING);
  health.start();
  asked[0]?.resolve(UP);
  await health.known;
  await jest.advanceTimersByTimeAsync(2_000);
  expect(asked).toHaveLength(2);
  expect(health.current()).toEqual(UP);
  asked[1]?.reject(new Error('connection refused'));
  await jest.advanceTimersByTimeAsync(0);
  expect(health.current()).toEqual({ status: 'DOWN', details: { host: 'db', error: 'Error: connection refused' } });
  health.stop();
});

test('the last error stays known with its time when the part is back', async () => {
  const { asked, indicator } = manualIndicator();
  const health = new RefreshedHealth(indicator, TIMING);
  jest.setSystemTime(new Date('2026-11-26T12:00:00Z'));
  health.start();
  expect(health.lastFailure).toBeNull();
  asked[0]?.reject(new Error('connection refused'));
  await jest.advanceTimersByTimeAsync(2_000);
  const failure = { error: 'Error: connection refused', at: new Date('2026-11-26T12:00:00Z') };
  expect(health.lastFailure).toEqual(failure);
  asked[1]?.resolve(UP);
  await jest.advanceTimersByTimeAsync(0);
  expect([health.current(), health.lastFailure]).toEqual([UP, failure]);
  health.stop();
});

test('a check that throws at once is DOWN too', async () => {
  const check = () => {
    throw new Error('not configured');
  };
  const health = new RefreshedHealth({ name: 'db', check }, TIMING);
  health.start();
  await health.known;
  expect(health.current()).toEqual({ status: 'DOWN', details: { error: 'Error: not configured' } });
  health.stop();
});

test('no answer within the time-out is DOWN, and the check is told to give up', async () => {
  const { asked, indicator } = manualIndicator();
  const health = new RefreshedHealth(indicator, TIMING);
  health.start();
  await jest.advanceTimersByTimeAsync(2_999);
  expect(health.current()).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1);
  expect(health.current()).toEqual({
    status: 'DOWN',
    details: { host: 'db', error: 'TimeoutError: no answer within 3000 ms' },
  });
  expect(asked[0]?.signal.aborted).toBe(true);
  health.stop();
});

test('a check that hangs is not asked a second time until it has settled, and its late answer is dropped', async () => {
  const { asked, indicator } = manualIndicator();
  const health = new RefreshedHealth(indicator, TIMING);
  health.start();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(UP);
  await jest.advanceTimersByTimeAsync(0);
  expect(health.current()?.status).toBe('DOWN');
  await jest.advanceTimersByTimeAsync(2_000);
  expect(asked).toHaveLength(2);
  asked[1]?.resolve(UP);
  await jest.advanceTimersByTimeAsync(0);
  expect(health.current()).toEqual(UP);
  health.stop();
});

test('stopping aborts the running check, leaves no timer and lets nobody wait', async () => {
  const { asked, indicator } = manualIndicator();
  const health = new RefreshedHealth(indicator, TIMING);
  health.start();
  health.stop();
  await health.known;
  expect(asked[0]?.signal.aborted).toBe(true);
  asked[0]?.resolve(UP);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
  expect(health.current()).toBeUndefined();
  expect(jest.getTimerCount()).toBe(0);
});

test('stopping between two checks leaves no timer either', async () => {
  const health = new RefreshedHealth({ name: 'ping', check: async () => UP }, TIMING);
  health.start();
  await health.known;
  await jest.advanceTimersByTimeAsync(0);
  expect(jest.getTimerCount()).toBe(1);
  health.stop();
  expect(jest.getTimerCount()).toBe(0);
});

const LONGEST_PAUSE_MS = 10_000;

test('a part has been reachable since the first of its results that were UP', () => {
  const upTime = new UpTime(LONGEST_PAUSE_MS);
  expect(upTime.ms(0)).toBe(0);
  upTime.result('DOWN', 1_000);
  expect(upTime.ms(1_500)).toBe(0);
  upTime.result('UP', 3_000);
  upTime.result('UP', 8_000);
  expect(upTime.ms(9_000)).toBe(6_000);
  upTime.result('DOWN', 10_000);
  upTime.result('UP', 11_000);
  expect(upTime.ms(12_000)).toBe(1_000);
});

test('results that lie further apart than checks do, as when the process was frozen, begin anew', () => {
  const upTime = new UpTime(LONGEST_PAUSE_MS);
  upTime.result('UP', 1_000);
  expect(upTime.ms(11_000)).toBe(10_000);
  expect(upTime.ms(11_001)).toBe(0);
  upTime.result('UP', 11_001);
  expect(upTime.ms(12_001)).toBe(1_000);
});
