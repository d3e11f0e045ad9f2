import { afterEach, expect, test } from '@jest/globals';
import type { BuildInfo } from '../../../app/management/info-route.ts';
import { type RunningManagement, startManagement } from './running-management.ts';

let running: RunningManagement;

afterEach(() => running.management.stop());

async function info(build: BuildInfo): Promise<unknown> {
  running = await startManagement({ build });
  return (await running.app.inject({ url: '/actuator/info' })).json();
}

test('the info has product, version, build time, license and runtime', async () => {
  expect(await info({ version: '1.2.3', time: '2026-11-21T13:50:31.742Z' })).toEqual({
    app: { name: 'stream-consumer', version: '1.2.3', license: 'Apache-2.0' },
    build: {
      version: '1.2.3',
      artifact: 'stream-consumer',
      name: 'stream-consumer',
      time: '2026-11-21T13:50:31.742Z',
    },
    license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    runtime: { name: 'Node.js', version: process.versions.node },
  });
});

test('a build time that is not known is left out', async () => {
  expect(await info({ version: '1.2.3' })).not.toHaveProperty('build.time');
});
