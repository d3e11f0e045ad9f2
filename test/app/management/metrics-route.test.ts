import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RunningManagement, startManagement } from './running-management.ts';

let running: RunningManagement;

beforeAll(async () => {
  running = await startManagement();
});

afterAll(() => running.management.stop());

const ask = (path: string) => running.app.inject({ url: `/actuator/metrics${path}` });

test('every listed name answers', async () => {
  const names: string[] = (await ask('')).json().names;
  expect(names.length).toBeGreaterThan(20);
  for (const name of names) {
    const answer = await ask(`/${name}`);
    expect([answer.statusCode, answer.json().name]).toEqual([200, name]);
  }
});

test('the name of Prometheus and the dotted one give the same', async () => {
  const [dotted, prometheus] = [(await ask('/jvm.memory.max')).json(), (await ask('/jvm_memory_max_bytes')).json()];
  expect(dotted).toEqual({ ...prometheus, name: 'jvm.memory.max' });
});

test.each([
  '?tag=area:heap&tag=id:new_space',
  '?tag=area:heap,id:new_space',
  '?tag=id%3Anew_space',
  '?tag=area:heap&tag=area:heap&tag=id:new_space',
])('tags narrow the series: %s', async (query) => {
  const tags = (await ask(`/jvm.memory.max${query}`)).json().availableTags.map(({ tag }: { tag: string }) => tag);
  expect(tags).toContain('application');
  expect(tags).not.toContain('id');
});

test.each(['?tag=foo', '?tag=area:heap,', '?tag=area:heap&tag=foo', '?tag=%zz&tag=foo'])(
  'a tag that is not KEY:VALUE is 400, with the error body: %s',
  async (query) => {
    const answer = await ask(`/jvm.memory.used${query}`);
    expect(answer.statusCode).toBe(400);
    expect(Object.keys(answer.json())).toEqual(['timestamp', 'status', 'error', 'path']);
    expect(answer.json()).toMatchObject({
      status: 400,
      error: 'Bad Request',
      path: '/actuator/metrics/jvm.memory.used',
    });
    expect(answer.headers['content-disposition']).toBe('inline;filename=f.txt');
  },
);

test('a wrong tag is 400 for an unknown name, too', async () => {
  expect((await ask('/nosuch?tag=foo')).statusCode).toBe(400);
});

test.each(['/nosuch', '/constructor', '/jvm.memory.used?tag=area:nosuch', `/${'x'.repeat(1_000)}`])(
  'what matches nothing is 404 without a body: %s',
  async (path) => {
    const answer = await ask(path);
    expect([answer.statusCode, answer.body, answer.headers['content-disposition']]).toEqual([404, '', undefined]);
  },
);

test('a tag that cannot be decoded is passed over, as if it were not there', async () => {
  const [all, one] = [
    (await ask('/jvm.memory.max?tag=%zz')).json(),
    (await ask('/jvm.memory.max?tag=%zz&tag=area:heap')).json(),
  ];
  const tags = (answer: { availableTags: { tag: string }[] }) => answer.availableTags.map(({ tag }) => tag);
  expect(tags(all)).toContain('area');
  expect(tags(one)).not.toContain('area');
});
