import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { CONTAINER_USER } from '../../contract/container.ts';
import { EXIT_CODE } from '../../contract/exit-code.ts';
import { CONTAINER_HEALTH_CHECK } from '../../contract/probes.ts';
import { imageFacts } from '../../dev/image/image-facts.ts';
import { freePort } from '../../dev/run/free-port.ts';
import type { LocalPostgres } from '../../dev/stack/local-postgres.ts';
import { query } from '../integration/stack/database.ts';
import { createTopic, produce } from '../integration/stack/kafka-client.ts';
import { startPrivatePostgres } from '../integration/stack/private-servers.ts';
import { randomName } from '../integration/stack/random-name.ts';
import { sharedBroker } from '../integration/stack/shared-stack.ts';
import { awaitEachOnce } from '../integration/stack/stored-rows.ts';
import { until } from '../integration/stack/until.ts';
import { gracePeriodSeconds } from './stack/manifest-flags.ts';
import { podman } from './stack/podman.ts';
import { type Container, startContainer } from './stack/start-container.ts';

const MANIFEST = 'dist/consumer.k8s.yaml';
const MEMORY_LIMIT = 512 * 1024 ** 2;
/** What the chart makes of that limit, in NODE_OPTIONS. */
const HEAP_LIMIT = 332 * 1024 ** 2;

interface Info {
  readonly build: { readonly time: string };
  readonly git: { readonly commit: { readonly id: string; readonly time: string } };
}

let postgres: LocalPostgres;
let topic = '';
let port = 0;
let container: Container;
const schema = randomName('schema');

const health = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/actuator/health`)).status;
const healthBecomes = (status: number) =>
  until(`health ${status}`, async () => ((await health()) === status ? true : undefined));

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
  });
}, 120_000);

describe('a container that runs as the manifest says', () => {
  test("becomes healthy by the image's own HEALTHCHECK", async () => {
    await until('a healthy container', async () => ((await container.checkHealth()) === 'healthy' ? true : undefined));
    expect(await health()).toBe(200);
  });

  test('tells at /actuator/info when and of which commit it was built', async () => {
    const { REVISION, COMMIT_TIME, CREATED } = imageFacts('.', process.env);
    const info = (await (await fetch(`http://127.0.0.1:${port}/actuator/info`)).json()) as Info;
    expect(info.build.time).toBe(new Date(CREATED).toISOString());
    expect(REVISION).toMatch(new RegExp(`^${info.git.commit.id}`));
    expect(Date.parse(info.git.commit.time)).toBe(Date.parse(COMMIT_TIME));
  });

  test('writes the records that arrive, once each', async () => {
    await produce(topic, [{ value: '{"order": 1}' }, { value: '{"order": 2}' }, { value: 'no JSON' }]);
    await awaitEachOnce({ schema, topic, records: 3, url: postgres.urlWithPassword });
  });

  test('is one process, node as process 1, under its numeric user and without any privilege', async () => {
    const processes = await podman(['top', container.name, 'pid', 'args']);
    expect(
      processes
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split(/\s+/)),
    ).toEqual([['1', 'node', 'build/app/main.js']]);
    const { pid } = JSON.parse(await podman(['inspect', '--format', '{"pid": {{.State.Pid}}}', container.name])) as {
      pid: number;
    };
    const status = Object.fromEntries(
      readFileSync(`/proc/${pid}/status`, 'utf8')
        .split('\n')
        .map((line) => line.split(/:\s+/)),
    );
    const { uid, gid } = CONTAINER_USER;
    expect(status).toMatchObject({
      Uid: [uid, uid, uid, uid].join('\t'),
      Gid: [gid, gid, gid, gid].join('\t'),
      CapEff: '0000000000000000',
      CapBnd: '0000000000000000',
      NoNewPrivs: '1',
    });
  });

  test("knows its memory limit, and keeps its heap to the chart's share of it", async () => {
    expect(Number(await container.evaluate('process.constrainedMemory()'))).toBe(MEMORY_LIMIT);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/actuator/prometheus`)).text();
    const [, heap] = /^jvm_memory_max_bytes\{[^}]*id="old_space"[^}]*\} (\S+)$/m.exec(metrics) ?? [];
    // V8 adds the space for new objects to what it is told.
    expect(Number(heap)).toBeGreaterThanOrEqual(HEAP_LIMIT);
    expect(Number(heap)).toBeLessThan(MEMORY_LIMIT);
  });

  test('can write to /tmp alone, and did not need to', async () => {
    const script = `
      const fs = require('node:fs');
      const path = require('node:path');
      const writable = [];
      const look = (folder) => {
        try {
          const probe = path.join(folder, 'probe');
          fs.writeFileSync(probe, '');
          fs.unlinkSync(probe);
          writable.push(folder);
        } catch {}
        let entries = [];
        try { entries = fs.readdirSync(folder, { withFileTypes: true }); } catch {}
        for (const entry of entries) {
          if (entry.isDirectory() && !['/proc', '/sys'].includes(path.join(folder, entry.name))) look(path.join(folder, entry.name));
        }
      };
      look('/');
      JSON.stringify({ writable, left: fs.readdirSync('/tmp') })`;
    // The kernel's own shared memory is no place on a disk; Kubernetes has it as well.
    const { writable, left } = JSON.parse(await container.evaluate(script)) as Record<'writable' | 'left', string[]>;
    expect(writable.filter((folder) => !['/dev/shm', '/dev/mqueue'].includes(folder))).toEqual(['/tmp']);
    expect(left).toEqual([]);
  });

  test('is unhealthy after three failures while PostgreSQL is away, and healthy again when it is back', async () => {
    const { startPeriodSeconds, retries } = CONTAINER_HEALTH_CHECK;
    const started = Date.parse(
      await podman(['inspect', '--format', '{{.State.StartedAt.Format "2006-01-02T15:04:05Z07:00"}}', container.name]),
    );
    // Failures in the start period are not counted.
    const isCounting = async () => (Date.now() - started > (startPeriodSeconds + 1) * 1_000 ? true : undefined);
    await until('the end of the start period', isCounting, startPeriodSeconds * 1_500);
    await postgres.stop();
    await healthBecomes(503);
    const verdicts = [];
    for (let check = 0; check < retries; check += 1) {
      verdicts.push(await container.checkHealth());
    }
    expect(verdicts).toEqual(['healthy', 'healthy', 'unhealthy']);
    await postgres.start();
    await healthBecomes(200);
    expect(await container.checkHealth()).toBe('healthy');
  });

  test('drains when podman stops it, and exits with 0 within the grace period', async () => {
    const grace = gracePeriodSeconds(MANIFEST);
    const messages = Array.from({ length: 4_000 }, () => ({ value: JSON.stringify({ text: 'x'.repeat(100) }) }));
    const sent = Promise.all([1, 2, 3, 4, 5].map(() => produce(topic, messages)));
    const rows = () =>
      query<{ rows: number; next: number }>(
        `SELECT (SELECT count(*)::int FROM ${schema}.records) + (SELECT count(*)::int FROM ${schema}.dead_letters) AS rows,
                (SELECT next_offset::int FROM ${schema}.offsets) AS next`,
        [],
        postgres.urlWithPassword,
      );
    await until('the first of many records', async () => (((await rows())[0]?.rows ?? 0) > 3 ? true : undefined));
    await podman(['stop', '--time', String(grace), container.name]);
    await sent;
    expect(await container.ended()).toBe(EXIT_CODE.ok);
    const { stdout } = await container.logs();
    expect(stdout).toMatch(/"reason":"SIGTERM".*"msg":"draining"/);
    expect(stdout).toMatch(/"exitCode":0.*"msg":"stopped"/);
    const [after] = await rows();
    expect(after?.rows).toBe(after?.next);
  });
});
