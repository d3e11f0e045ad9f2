import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CONTAINER_PATH } from '../../contract/container.ts';
import { freePort } from '../../dev/run/free-port.ts';
import { createTopic } from '../integration/stack/kafka-client.ts';
import { randomName } from '../integration/stack/random-name.ts';
import { sharedBroker, sharedDatabaseUrl } from '../integration/stack/shared-stack.ts';
import { testRun } from '../integration/stack/test-run.ts';
import { until } from '../integration/stack/until.ts';
import { type ContainerUnderTest, startContainer } from './stack/start-container.ts';

const settings = async (more: object) => ({
  kafka: { brokers: [sharedBroker()], topics: [await createTopic()], groupId: randomName('group') },
  database: { url: sharedDatabaseUrl(), schema: randomName('schema') },
  ...more,
});

async function becomesHealthy(chosen: ContainerUnderTest): Promise<string> {
  const container = await startContainer(chosen);
  await until('a healthy container', async () => ((await container.checkHealth()) === 'healthy' ? true : undefined));
  return (await container.logs()).stdout;
}

/** A self-signed certificate and its key, in a folder that the container's user may read. */
async function certificateFolder(): Promise<string> {
  const folder = await mkdtemp(join((await testRun()).path, 'certificate-'));
  const files = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')];
  const kind = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-subj',
    '/CN=consumer',
  ];
  const { status, stderr } = spawnSync('openssl', ['req', ...kind, ...files], { encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`openssl made no certificate: ${stderr}`);
  }
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'tls.key'), 0o644);
  return folder;
}

test('the HEALTHCHECK follows the port, the base path and TLS', async () => {
  const [port, unused] = [await freePort(), await freePort()];
  const log = await becomesHealthy({
    settings: await settings({
      server: {
        port: unused,
        ssl: {
          certificate: `${CONTAINER_PATH.certificate}/tls.crt`,
          'certificate-private-key': `${CONTAINER_PATH.certificate}/tls.key`,
        },
      },
      management: { server: { port }, endpoints: { web: { 'base-path': '/manage' } } },
    }),
    volumes: [`${await certificateFolder()}:${CONTAINER_PATH.certificate}:ro`],
  });
  expect(log).toContain(`"port":${port}`);
});

test('the HEALTHCHECK reads the configuration that the consumer was started with by --config', async () => {
  const port = await freePort();
  await becomesHealthy({
    settings: await settings({ server: { port } }),
    env: { CONFIG_FILE: '/nonexistent/application.yml' },
    args: ['--config', `${CONTAINER_PATH.configuration}/${CONTAINER_PATH.configurationFile}`],
  });
});
