import { afterEach, expect, test } from '@jest/globals';
import { type RunningManagement, settingsWith, startManagement } from './running-management.ts';

const LINKS: Readonly<Record<string, readonly string[]>> = {
  health: ['health', 'health-path'],
  info: ['info'],
  prometheus: ['prometheus'],
  metrics: ['metrics-requiredMetricName', 'metrics'],
};

let running: RunningManagement;

afterEach(() => running.management.stop());

async function start(web: object): Promise<void> {
  running = await startManagement({ settings: settingsWith({ endpoints: { web } }) });
}

test.each<[object, readonly string[]]>([
  [{}, ['health', 'info', 'prometheus', 'metrics']],
  [{ include: ['health', 'prometheus'] }, ['health', 'prometheus']],
  [{ include: ['*'], exclude: ['metrics', 'info'] }, ['health', 'prometheus']],
  [{ include: ['health', 'info'], exclude: ['health'] }, ['info']],
  [{ exclude: ['*'] }, []],
  [{ include: [] }, []],
])('what is exposed answers and has its links, what is not is a path like any other: %j', async (exposure, exposed) => {
  await start({ exposure });
  const { _links: links } = (await running.app.inject({ url: '/actuator' })).json();
  expect(Object.keys(links)).toEqual(['self', ...exposed.flatMap((id) => LINKS[id] ?? [])]);
  for (const id of Object.keys(LINKS)) {
    const answer = await running.app.inject({ url: `/actuator/${id}` });
    expect([id, answer.statusCode]).toEqual([id, exposed.includes(id) ? 200 : 404]);
    if (!exposed.includes(id)) {
      expect(answer.json()).toMatchObject({ status: 404, error: 'Not Found', path: `/actuator/${id}` });
      const options = await running.app.inject({ method: 'OPTIONS', url: `/actuator/${id}` });
      expect(options.statusCode).toBe(404);
    }
  }
});

test('the list of links can be switched off, the endpoints stay', async () => {
  await start({ discovery: { enabled: false } });
  const index = await running.app.inject({ url: '/actuator' });
  expect([index.statusCode, Object.keys(index.json())]).toEqual([404, ['timestamp', 'status', 'error', 'path']]);
  expect((await running.app.inject({ url: '/actuator/info' })).statusCode).toBe(200);
});
