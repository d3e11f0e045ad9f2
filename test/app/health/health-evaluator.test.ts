import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { HealthEvaluator, START_PERIOD_MS } from '../../../app/health/create-health.ts';
import type { Status } from '../../../app/health/health.ts';
import { ALERTS, HEALTH_EVALUATION_INTERVAL_MS } from '../../../contract/alerts.ts';

let status: Status;
let draining: boolean;
let evaluator: HealthEvaluator;

beforeEach(async () => {
  jest.useFakeTimers();
  status = 'UP';
  draining = false;
  evaluator = new HealthEvaluator({ status: async () => status, isDraining: () => draining });
});

afterEach(() => {
  evaluator.stop();
  jest.useRealTimers();
});

const evaluations = (count: number) => jest.advanceTimersByTimeAsync(count * HEALTH_EVALUATION_INTERVAL_MS);

test('every evaluation that is not UP counts, and one that is sets back to 0', async () => {
  evaluator.start();
  await evaluations(1);
  expect(evaluator.consecutiveFailures).toBe(0);
  status = 'DOWN';
  await evaluations(2);
  status = 'OUT_OF_SERVICE';
  await evaluations(1);
  expect(evaluator.consecutiveFailures).toBe(3);
  status = 'UP';
  await evaluations(1);
  expect(evaluator.consecutiveFailures).toBe(0);
});

test('as many failures as alert are seen within the time of the third failed liveness probe', async () => {
  evaluator.start();
  await evaluations(1);
  status = 'DOWN';
  await jest.advanceTimersByTimeAsync(30_000);
  expect(evaluator.consecutiveFailures).toBeGreaterThanOrEqual(ALERTS.HealthCheckFailing.critical.threshold);
});

test('not being UP yet is no failure until the start period is over', async () => {
  status = 'OUT_OF_SERVICE';
  evaluator.start();
  await jest.advanceTimersByTimeAsync(START_PERIOD_MS - 1);
  expect(evaluator.consecutiveFailures).toBe(0);
  await evaluations(3);
  expect(evaluator.consecutiveFailures).toBe(3);
});

test('a failure soon after the first UP counts, also within the start period', async () => {
  evaluator.start();
  await jest.advanceTimersByTimeAsync(0);
  status = 'DOWN';
  await evaluations(1);
  expect(evaluator.consecutiveFailures).toBe(1);
});

test('draining is no failure', async () => {
  evaluator.start();
  await evaluations(1);
  draining = true;
  status = 'OUT_OF_SERVICE';
  await evaluations(5);
  expect(evaluator.consecutiveFailures).toBe(0);
});

test('nothing is evaluated and no timer is left after the stop', async () => {
  evaluator.start();
  await evaluations(1);
  evaluator.stop();
  status = 'DOWN';
  await evaluations(5);
  expect(evaluator.consecutiveFailures).toBe(0);
  expect(jest.getTimerCount()).toBe(0);
});
