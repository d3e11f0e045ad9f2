import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RunningManagement, startManagement } from './running-management.ts';

const TEXT = 'text/plain;version=0.0.4;charset=utf-8';
const OPENMETRICS = 'application/openmetrics-text;version=1.0.0;charset=utf-8';

let running: RunningManagement;

beforeAll(async () => {
  running = await startManagement();
});

afterAll(() => running.management.stop());

const scrape = (accept: string, query = '') =>
  running.app.inject({ url: `/actuator/prometheus${query}`, headers: { accept } });

test.each([
  ['*/*', TEXT],
  ['text/plain', TEXT],
  ['text/plain;version=0.0.4', TEXT],
  ['application/openmetrics-text', OPENMETRICS],
  ['application/openmetrics-text;version=1.0.0', OPENMETRICS],
  ['text/plain;version=0.0.4;q=1, application/openmetrics-text;version=1.0.0;q=0.1', OPENMETRICS],
  ['application/openmetrics-text;version=0.0.1, text/plain;q=0.1', TEXT],
  ['application/*', OPENMETRICS],
  [
    'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,application/openmetrics-text;version=1.0.0;q=0.6,*/*;q=0.2',
    OPENMETRICS,
  ],
])('a client that accepts %s gets %s', async (accept, contentType) => {
  const answer = await scrape(accept);
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, contentType]);
  expect(answer.body.endsWith('# EOF\n')).toBe(contentType === OPENMETRICS);
});

test('a client that accepts only protobuf is told what can be had', async () => {
  const answer = await scrape('application/vnd.google.protobuf');
  expect([answer.statusCode, answer.headers['accept']]).toEqual([406, `${TEXT}, ${OPENMETRICS}`]);
});

test.each([
  '?includedNames=process_uptime_seconds,system_cpu_count',
  '?includedNames=process_uptime_seconds&includedNames=system_cpu_count',
])('the scrape can be narrowed to families: %s', async (query) => {
  const families = (await scrape('*/*', query)).body.match(/^# TYPE \S+/gm);
  expect(families).toEqual(['# TYPE process_uptime_seconds', '# TYPE system_cpu_count']);
});

const scrapeEncoded = (encoding: string | undefined, query = '') =>
  running.app.inject({
    url: `/actuator/prometheus${query}`,
    headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
  });

test.each(['gzip', 'deflate, gzip;q=0.5', 'GZIP', '*', 'x-gzip', 'identity;q=0.1, *;q=0.5'])(
  'a scrape that accepts %s is compressed, and the same when it is not any more',
  async (encoding) => {
    const answer = await scrapeEncoded(encoding);
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(Number(answer.headers['content-length'])).toBe(answer.rawPayload.length);
    const text = gunzipSync(answer.rawPayload).toString();
    expect(text).toMatch(/^# HELP /);
    expect(text.length).toBeGreaterThan(5 * answer.rawPayload.length);
  },
);

test.each([undefined, '', 'identity', 'br', 'gzip;q=0', 'gzip;q=0, *', '*;q=0', 'gzip;q=nonsense'])(
  'one that accepts %s is plain',
  async (encoding) => {
    const answer = await scrapeEncoded(encoding);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.body).toMatch(/^# HELP /);
  },
);

test('a few lines are not worth compressing', async () => {
  const answer = await scrapeEncoded('gzip', '?includedNames=process_uptime_seconds');
  expect(answer.headers['content-encoding']).toBeUndefined();
  expect(answer.body).toContain('process_uptime_seconds{');
});
