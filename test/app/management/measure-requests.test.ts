import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { HTTPMethods } from 'fastify';
import { type RunningManagement, startManagement } from './running-management.ts';

let running: RunningManagement;

beforeEach(async () => {
  running = await startManagement();
});

afterEach(() => running.management.stop());

/** Requests that were answered since the start, as `METHOD uri status`. */
async function answered(): Promise<string[]> {
  const { body } = await running.app.inject({ url: '/actuator/prometheus?includedNames=http_server_requests_seconds' });
  return body.split('\n').flatMap((line) => {
    const [, method, status, uri, count] =
      /^http_server_requests_seconds_count\{.*method="(\w+)".*status="(\d+)",uri="(.*)"\} (\d+)$/.exec(line) ?? [];
    return Number(count) > 0 ? [`${method} ${uri} ${status}`] : [];
  });
}

test.each<[HTTPMethods, string, string]>([
  ['GET', '/actuator', 'GET /actuator 200'],
  ['GET', '/actuator/health', 'GET /actuator/health 200'],
  ['GET', '/actuator/health/db', 'GET /actuator/health/** 200'],
  ['GET', '/actuator/health/nosuch', 'GET /actuator/health/** 404'],
  ['GET', '/actuator/metrics/jvm.info', 'GET /actuator/metrics/{requiredMetricName} 200'],
  ['GET', '/actuator/metrics/nosuch', 'GET /actuator/metrics/{requiredMetricName} 404'],
  ['HEAD', '/actuator/info', 'HEAD /actuator/info 200'],
  ['OPTIONS', '/actuator/info', 'OPTIONS UNKNOWN 200'],
  ['POST', '/actuator/info', 'POST UNKNOWN 405'],
  ['GET', '/nosuch/path', 'GET /** 404'],
])('%s %s counts as %s', async (method, url, expected) => {
  await running.app.inject({ method, url });
  expect(await answered()).toEqual([expected]);
});

test('a type that cannot be had counts without a route, as in Spring', async () => {
  await running.app.inject({ url: '/actuator/info', headers: { accept: 'text/plain' } });
  expect(await answered()).toEqual(['GET UNKNOWN 406']);
});

test('a GET of each route is there before the first one, that of the health also for 503', async () => {
  const { body } = await running.app.inject({ url: '/actuator/prometheus' });
  const series = (status: number) =>
    body.match(new RegExp(`^http_server_requests_seconds_count\\{.*status="${status}".*\\} 0$`, 'gm'));
  expect(series(200)?.length).toBeGreaterThanOrEqual(7);
  expect(series(503)?.length).toBeGreaterThanOrEqual(2);
});

test('a scrape sees itself under way, and nobody else', async () => {
  await running.app.inject({ url: '/actuator/health' });
  const { body } = await running.app.inject({ url: '/actuator/prometheus' });
  expect(body).toMatch(/^http_server_requests_active_seconds_count\{.*method="GET".*\} 1$/m);
});

test('lines of the log are counted by level, those that are not written are not', async () => {
  const count = async (level: string) => {
    const { body } = await running.app.inject({ url: `/actuator/metrics/logback.events?tag=level:${level}` });
    return JSON.parse(body).measurements[0].value;
  };
  const before = { error: await count('error'), warn: await count('warn'), debug: await count('debug') };
  running.app.log.fatal({}, 'the end');
  running.app.log.error({}, 'an error');
  running.app.log.child({}).warn('a warning');
  running.app.log.debug({}, 'not at this level');
  expect(await count('error')).toBe(before.error + 2);
  expect(await count('warn')).toBe(before.warn + 1);
  expect(await count('debug')).toBe(before.debug);
});
