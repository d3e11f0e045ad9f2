import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RunningManagement, startManagement } from './running-management.ts';

let running: RunningManagement;

beforeAll(async () => {
  running = await startManagement();
});

afterAll(() => running.management.stop());

const selfFor = async (host: string) =>
  (await running.app.inject({ url: '/actuator', headers: { host } })).json()._links.self.href;

test.each(['consumer.example', 'consumer.example:8080', '[::1]:8080', '10.0.0.1:80'])(
  'links go to the host %s',
  async (host) => {
    expect(await selfFor(host)).toBe(`http://${host}/actuator`);
  },
);

test.each(['evil.example/path', 'a b', 'x"><script>', 'user@evil.example', 'evil.example:99999999'])(
  'what is no host does not get into a link: %s',
  async (host) => {
    expect(await selfFor(host)).toMatch(/^http:\/\/(127\.0\.0\.1|localhost):\d+\/actuator$/);
  },
);

test('every link that is no template answers', async () => {
  const { _links: links } = (await running.app.inject({ url: '/actuator', headers: { host: 'h' } })).json();
  const hrefs = Object.values<{ href: string; templated: boolean }>(links)
    .filter(({ templated }) => !templated)
    .map(({ href }) => href.replace('http://h', ''));
  expect(hrefs).toHaveLength(5);
  for (const url of hrefs) {
    expect((await running.app.inject({ url })).statusCode).toBe(200);
  }
});
