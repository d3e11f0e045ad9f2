import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type ConsumerHealth, createHealth, type HealthSources } from '../../../app/health/create-health.ts';
import type { ConsumerReport } from '../../../app/stream/partition/consumer-state.ts';
import { managementOptions, RUNNING } from '../management/running-management.ts';

let health: ConsumerHealth;
let report: ConsumerReport;

beforeEach(() => {
  jest.useFakeTimers();
  report = RUNNING;
});

afterEach(() => {
  health.stop();
  jest.useRealTimers();
});

const refuse = () => Promise.reject(new Error('connection refused'));

async function start(overrides: Partial<HealthSources> = {}): Promise<void> {
  health = createHealth({ ...managementOptions(), report: () => report, ...overrides });
  health.start();
  health.readiness.ready();
  await jest.advanceTimersByTimeAsync(0);
}

function kafkaInRoot(inRoot: boolean): HealthSources['settings'] {
  const { settings } = managementOptions();
  const { management } = settings;
  return { ...settings, management: { ...management, health: { ...management.health, kafka: { 'in-root': inRoot } } } };
}

const at = async (...path: string[]) => (await health.endpoint.find(path, true))?.report;

async function statuses(): Promise<Record<string, string | undefined>> {
  const [root, liveness, readiness] = [await at(), await at('liveness'), await at('readiness')];
  return { root: root?.status, liveness: liveness?.status, readiness: readiness?.status };
}

/** statfs() is real, and fake timers do not wait for it. */
async function untilAllChecked(): Promise<void> {
  jest.useRealTimers();
  await at();
}

test('all is UP when all works and the owner said so', async () => {
  await start();
  await untilAllChecked();
  expect(await statuses()).toEqual({ root: 'UP', liveness: 'UP', readiness: 'UP' });
});

test('a database that refuses is DOWN in the root and in readiness, but not in liveness', async () => {
  await start({ checkDatabase: refuse });
  await untilAllChecked();
  expect(await statuses()).toEqual({ root: 'DOWN', liveness: 'UP', readiness: 'DOWN' });
  expect(await at('db')).toEqual({
    status: 'DOWN',
    details: { error: 'Error: connection refused' },
  });
});

test('Kafka away is DOWN in its component and in readiness, but not in the root', async () => {
  await start({ checkKafka: refuse });
  await untilAllChecked();
  expect(await statuses()).toEqual({ root: 'UP', liveness: 'UP', readiness: 'DOWN' });
  expect(await at('kafka')).toEqual({
    status: 'DOWN',
    details: { bootstrapBrokers: ['broker:9092'], error: 'Error: connection refused' },
  });
});

test('Kafka away before the group was ever joined does not count for the root either', async () => {
  report = { ...RUNNING, state: 'starting', partitions: [] };
  await start({ checkKafka: refuse });
  await untilAllChecked();
  expect((await statuses())['root']).toBe('UP');
});

test('Kafka away counts for the root when the settings say so', async () => {
  await start({ checkKafka: refuse, settings: kafkaInRoot(true) });
  await untilAllChecked();
  expect((await statuses())['root']).toBe('DOWN');
});

test('nothing is ready before the owner says so, nor from the moment draining begins', async () => {
  health = createHealth(managementOptions());
  expect(await at('liveness')).toEqual({ status: 'UP' });
  expect(await at('readinessState')).toEqual({ status: 'OUT_OF_SERVICE' });
  health.readiness.ready();
  expect(await at('readinessState')).toEqual({ status: 'UP' });
  health.readiness.draining();
  health.readiness.ready();
  expect(await at('readinessState')).toEqual({ status: 'OUT_OF_SERVICE' });
  expect(await at('liveness')).toEqual({ status: 'UP' });
});

test('a consumer that failed is not alive', async () => {
  report = { ...RUNNING, state: 'failed' };
  await start();
  await untilAllChecked();
  expect(await statuses()).toEqual({ root: 'DOWN', liveness: 'DOWN', readiness: 'DOWN' });
});

test('a database that hangs is DOWN after the time-out and delays nobody else', async () => {
  await start({ checkDatabase: () => new Promise(() => undefined) });
  await jest.advanceTimersByTimeAsync(7_500);
  expect(await at('db')).toEqual({
    status: 'DOWN',
    details: { error: 'TimeoutError: no answer within 7500 ms' },
  });
  expect(await at('kafka')).toEqual({ status: 'UP', details: { brokers: 1 } });
});

test('a database that comes back is UP again without a restart', async () => {
  let isAway = true;
  await start({ checkDatabase: () => (isAway ? refuse() : Promise.resolve()) });
  expect((await at('db'))?.status).toBe('DOWN');
  isAway = false;
  await jest.advanceTimersByTimeAsync(2_000);
  expect((await at('db'))?.status).toBe('UP');
  isAway = true;
  await jest.advanceTimersByTimeAsync(2_000);
  expect((await at('db'))?.status).toBe('DOWN');
});
