import { expect, test } from '@jest/globals';
import { HttpRequests } from '../../../../app/metrics/process/http-server-requests.ts';

const HEALTH = { method: 'GET', uri: '/actuator/health' };

test('answers are counted and timed by method, route and status, with the longest of the last minutes', () => {
  const requests = new HttpRequests();
  requests.answered(HEALTH, 200, 0.5);
  requests.answered(HEALTH, 200, 0.25);
  requests.answered(HEALTH, 503, 1);
  const { httpRequests, httpRequestsMax } = requests.sources;
  const labels = { error: 'none', exception: 'none', method: 'GET', uri: '/actuator/health' };
  expect(httpRequests()).toEqual([
    { labels: { ...labels, outcome: 'SUCCESS', status: '200' }, value: 0.75, count: 2 },
    { labels: { ...labels, outcome: 'SERVER_ERROR', status: '503' }, value: 1, count: 1 },
  ]);
  expect(httpRequestsMax().map(({ value }) => value)).toEqual([0.5, 1]);
});

test.each([
  [101, 'INFORMATIONAL'],
  [204, 'SUCCESS'],
  [302, 'REDIRECTION'],
  [404, 'CLIENT_ERROR'],
  [500, 'SERVER_ERROR'],
])('the outcome of %s is %s', (status, outcome) => {
  const requests = new HttpRequests();
  requests.answered(HEALTH, status, 0);
  expect(requests.sources.httpRequests()[0]?.labels['outcome']).toBe(outcome);
});

test('an answer that is expected is there with 0', () => {
  const requests = new HttpRequests();
  requests.expect(HEALTH, 200);
  expect(requests.sources.httpRequests()).toMatchObject([{ value: 0, count: 0 }]);
});

test('a method that HTTP does not know is UNKNOWN', () => {
  const requests = new HttpRequests();
  requests.answered({ method: 'BREW', uri: 'UNKNOWN' }, 405, 0);
  requests.answered({ method: 'PROPFIND', uri: 'UNKNOWN' }, 405, 0);
  expect(requests.sources.httpRequests()).toMatchObject([{ labels: { method: 'UNKNOWN' }, count: 2 }]);
});

test('whatever is asked, there are no more than a hundred series, and nothing is left uncounted', () => {
  const requests = new HttpRequests();
  for (let each = 0; each < 10_000; each += 1) {
    requests.answered({ method: 'GET', uri: `/${each}` }, 404, 0.001);
  }
  const series = requests.sources.httpRequests();
  expect(series).toHaveLength(100);
  expect(series.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(10_000);
  expect(series.at(-1)).toMatchObject({
    labels: { method: 'UNKNOWN', uri: 'UNKNOWN', status: 'UNKNOWN' },
    count: 9_901,
  });
});

test('requests under way are counted with the time they have taken; their series stay, with 0', () => {
  const clock = { now: 0 };
  const requests = new HttpRequests(() => clock.now);
  const [first, second] = [{}, {}];
  requests.began(first, 'GET');
  clock.now += 2_000;
  requests.began(second, 'HEAD');
  clock.now += 1_000;
  const { httpActive, httpActiveMax } = requests.sources;
  const labels = { exception: 'none', outcome: 'SUCCESS', status: '200', uri: 'UNKNOWN' };
  expect(httpActive()).toEqual([
    { labels: { ...labels, method: 'GET' }, value: 3, count: 1 },
    { labels: { ...labels, method: 'HEAD' }, value: 1, count: 1 },
  ]);
  expect(httpActiveMax().map(({ value }) => value)).toEqual([3, 1]);
  requests.ended(first);
  requests.ended(second);
  expect(httpActive().map(({ value, count }) => [value, count])).toEqual([
    [0, 0],
    [0, 0],
  ]);
});
