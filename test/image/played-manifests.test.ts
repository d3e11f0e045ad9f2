import { beforeAll, describe, expect, test } from '@jest/globals';
import { EXIT_CODE } from '../../contract/exit-code.ts';
import { freePort } from '../../dev/run/free-port.ts';
import { createTopic, produce } from '../integration/stack/kafka-client.ts';
import { randomName } from '../integration/stack/random-name.ts';
import { sharedBroker, sharedDatabaseUrl } from '../integration/stack/shared-stack.ts';
import { awaitEachOnce } from '../integration/stack/stored-rows.ts';
import { gracePeriodSeconds, manifestContainer } from './stack/manifest-flags.ts';
import { askProbe, type PlayedPod, playPod, shareLoopback } from './stack/play-pod.ts';
import { podman } from './stack/podman.ts';

const name = randomName('played').replace('_', '-');
const schema = randomName('schema');
let topic = '';
let pod: PlayedPod;
let startedAt = 0;

const state = async (format: string): Promise<string> => podman(['inspect', '--format', format, pod.container]);

beforeAll(async () => {
  topic = await createTopic();
  pod = await playPod({
    name,
    application: {
      kafka: { brokers: [sharedBroker()], topics: [topic], groupId: randomName('group') },
      database: { schema },
      server: { port: await freePort() },
    },
    database: { existingSecret: `${name}-database` },
    secret: { url: sharedDatabaseUrl() },
  });
  startedAt = Date.now();
  const ports = [sharedBroker(), new URL(sharedDatabaseUrl()).host].map((place) => Number(place.split(':')[1]));
  await shareLoopback(pod.pid, ports);
}, 120_000);

describe('a Pod that podman runs from the synthesized manifests', () => {
  test('writes records with the ConfigMap and the Secret that the chart names', async () => {
    await produce(topic, [{ value: '{"order": 1}' }, { value: '{"order": 2}' }]);
    await awaitEachOnce({ schema, topic, records: 2 });
  });

  test('answers each probe at its path, port and time, and is not restarted', async () => {
    const { readinessProbe, livenessProbe } = manifestContainer(pod.manifests);
    const [ready, alive] = await Promise.all([
      askProbe(readinessProbe, pod.address, startedAt, readinessProbe.failureThreshold + 1),
      askProbe(livenessProbe, pod.address, startedAt, 2),
    ]);
    expect(ready).toEqual([200, 200, 200, 200]);
    expect(alive).toEqual([200, 200]);
    expect(await state('{{.RestartCount}} {{.State.Running}}')).toBe('0 true');
  });

  test('exits with 0 when the Pod is stopped with its grace period', async () => {
    await pod.stop(gracePeriodSeconds(pod.manifests));
    expect(await state('{{.State.ExitCode}}')).toBe(String(EXIT_CODE.ok));
  });
});
