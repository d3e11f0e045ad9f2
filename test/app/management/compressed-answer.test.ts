import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RunningManagement, startManagement } from './running-management.ts';

let running: RunningManagement;

beforeAll(async () => {
  running = await startManagement();
});

afterAll(() => running.management.stop());

const scrape = (encoding: string | undefined, query = '') =>
  running.app.inject({
    url: `/actuator/prometheus${query}`,
    headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
  });

test.each(['gzip', 'deflate, gzip;q=0.5', 'GZIP', '*', 'x-gzip', 'identity;q=0.1, *;q=0.5'])(
  'a scrape that accepts %s is compressed, and the same when it is not any more',
  async (encoding) => {
    const answer = await scrape(encoding);
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
    const answer = await scrape(encoding);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.body).toMatch(/^# HELP /);
  },
);

test('a few lines are not worth compressing', async () => {
  const answer = await scrape('gzip', '?includedNames=process_uptime_seconds');
  expect(answer.headers['content-encoding']).toBeUndefined();
  expect(answer.body).toContain('process_uptime_seconds{');
});
