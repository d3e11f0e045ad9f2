import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../../dev/run/free-port.ts';
import type { LocalPostgres } from '../../dev/stack/local-postgres.ts';
import { createTopic, produce } from '../integration/stack/kafka-client.ts';
import { startPrivatePostgres } from '../integration/stack/private-servers.ts';
import { randomName } from '../integration/stack/random-name.ts';
import { sharedBroker } from '../integration/stack/shared-stack.ts';
import { awaitEachOnce } from '../integration/stack/stored-rows.ts';
import { until } from '../integration/stack/until.ts';
import { podman } from './stack/podman.ts';
import { type Container, startContainer } from './stack/start-container.ts';

/** As OpenShift runs Pods: a uid of the namespace's range, which no file of the image knows, and the group root. */
const USER = '1000650000:0';

let postgres: LocalPostgres;
let topic = '';
let port = 0;
let container: Container;
const schema = randomName('schema');

beforeAll(async () => {
  postgres = await startPrivatePostgres();
  topic = await createTopic();
  port = await freePort();
  container = await startContainer({
    settings: {
      kafka: { brokers: [sharedBroker()], topics: [topic], groupId: randomName('group') },
      database: { url: postgres.url, schema },
      server: { port },
    },
    secrets: { 'database.password': postgres.password },
    user: USER,
  });
}, 120_000);

describe('a container that runs as a user that the cluster chose', () => {
  test("becomes healthy by the image's own HEALTHCHECK", async () => {
    await until('a healthy container', async () => ((await container.checkHealth()) === 'healthy' ? true : undefined));
  });

  test('writes the records that arrive, once each', async () => {
    await produce(topic, [{ value: '{"order": 1}' }, { value: 'no JSON' }]);
    await awaitEachOnce({ schema, topic, records: 2, url: postgres.urlWithPassword });
  });

  test('runs as this user, in the group root, without any privilege', async () => {
    const { pid } = JSON.parse(await podman(['inspect', '--format', '{"pid": {{.State.Pid}}}', container.name])) as {
      pid: number;
    };
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const [uid, gid] = USER.split(':');
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, 'm'));
    expect(status).toMatch(new RegExp(`^Gid:\\t${gid}\\t${gid}\\t${gid}\\t${gid}$`, 'm'));
    expect(status).toMatch(/^CapEff:\t0{16}$/m);
  });

  test('can write to /tmp alone', async () => {
    const script = `
      const { accessSync, constants } = require('node:fs');
      const canWrite = (folder) => { try { accessSync(folder, constants.W_OK); return true; } catch { return false; } };
      ['/tmp', '/app', '/app/build', '/etc', '/'].filter(canWrite).join()`;
    expect((await container.evaluate(script)).trim()).toBe('/tmp');
  });
});
