import { afterEach, expect, test } from '@jest/globals';
import type { ProductBuild } from '../../../app/metrics/process/product-build.ts';
import { type RunningManagement, settingsWith, startManagement } from './running-management.ts';

let running: RunningManagement;

afterEach(() => running.management.stop());

async function info(build: ProductBuild, settings = settingsWith({})): Promise<Record<string, unknown>> {
  running = await startManagement({ build, settings });
  return (await running.app.inject({ url: '/actuator/info' })).json();
}

const BUILD = {
  version: '1.2.3',
  artifact: 'stream-consumer',
  license: 'Apache-2.0',
  name: 'stream-consumer',
  group: 'dev.stream-consumer',
};

test('the info has product, version, build time, license and runtime', async () => {
  expect(await info({ version: '1.2.3', time: '2026-11-21T13:50:31.742Z' })).toEqual({
    app: { name: 'stream-consumer', version: '1.2.3', license: 'Apache-2.0' },
    build: { ...BUILD, time: '2026-11-21T13:50:31.742Z' },
    license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    runtime: { name: 'Node.js', version: process.versions.node },
  });
});

test('a build time and a commit that are not known are left out', async () => {
  const { build, ...others } = await info({ version: '1.2.3', branch: 'main' });
  expect(build).toEqual(BUILD);
  expect(Object.keys(others)).toEqual(['app', 'license', 'runtime']);
});

test('the commit is shown as Spring Boot shows it: by seven digits', async () => {
  const commit = '3a2e408b2f8d1f5a0c9c6c2a3f1b2d4e5f607182';
  const known = { version: '1.2.3', commit, branch: 'main', commitTime: '2026-11-21T13:00:00.000Z' };
  expect((await info(known))['git']).toEqual({
    branch: 'main',
    commit: { id: '3a2e408', time: '2026-11-21T13:00:00.000Z' },
  });
});

test('the commit of files that differ from it is shown, with what the git-commit-id plugin writes of that', async () => {
  const known = { version: '1.2.3', commit: '3a2e408b2f8d1f5a0c9c6c2a3f1b2d4e5f607182', dirty: true };
  expect((await info(known))['git']).toEqual({ commit: { id: '3a2e408' }, dirty: 'true' });
});

test('info of the settings is shown, first, and takes the place of app alone', async () => {
  const given = { app: { name: 'Orders' }, team: ['a', { b: 'c' }], build: { version: '9' } };
  const shown = await info({ version: '1.2.3' }, settingsWith({}, { info: given }));
  expect(Object.keys(shown)).toEqual(['app', 'team', 'build', 'license', 'runtime']);
  expect(shown).toMatchObject({ app: { name: 'Orders' }, team: ['a', { b: 'c' }], build: { version: '1.2.3' } });
  expect(shown['app']).toEqual({ name: 'Orders' });
});

test('system and process are shown when the settings say so', async () => {
  const management = { info: { os: { enabled: true }, process: { enabled: true } } };
  const shown = await info({ version: '1.2.3' }, settingsWith(management));
  expect(shown['os']).toEqual({
    name: expect.any(String),
    version: expect.any(String),
    arch: expect.stringMatching(/^[a-z0-9_]+$/),
  });
  const memory = { max: expect.any(Number), init: -1, committed: expect.any(Number), used: expect.any(Number) };
  expect(shown['process']).toEqual({
    pid: process.pid,
    parentPid: process.ppid,
    owner: expect.any(String),
    cpus: expect.any(Number),
    memory: {
      heap: memory,
      nonHeap: { ...memory, max: -1 },
      garbageCollectors: ['V8 young', 'V8 old'].map((name) => ({ name, collectionCount: expect.any(Number) })),
    },
  });
});
