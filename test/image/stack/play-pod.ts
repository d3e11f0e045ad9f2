import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import type { RunFolder } from '../../../dev/run/run-folder.ts';
import { testRun } from '../../integration/stack/test-run.ts';
import { synthesize, temporaryCheckout } from '../../synthesis/checkout.ts';
import type { ManifestProbe } from './manifest-flags.ts';
import { podman, podmanJson, removeWithPodman } from './podman.ts';

/** Parts of consumer.yaml that a test sets; the rest is the checkout's own. */
interface PodUnderTest {
  readonly name: string;
  readonly application: object;
  readonly database: { readonly existingSecret: string };
  /** The keys of that Secret. */
  readonly secret: Readonly<Record<string, string>>;
}

/** A Pod that runs the synthesized manifests. */
export interface PlayedPod {
  /** File of its manifests. */
  readonly manifests: string;
  /** Name of the consumer's container. */
  readonly container: string;
  readonly address: string;
  /** A process in the Pod's network. */
  readonly pid: number;
  /** Stops it as the kubelet does: SIGTERM, and SIGKILL after so many seconds. */
  stop(graceSeconds: number): Promise<void>;
}

/**
 * Synthesizes the checkout with these changes; gives the file of the workload's manifests. podman's Pods have no volumes
 * of Secrets (until 4.4), so those are in the environment.
 */
async function manifestsOf({ name, application, database }: PodUnderTest): Promise<string> {
  const folder = temporaryCheckout();
  (await testRun()).beforeClose(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, 'consumer.yaml');
  const given = parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(
    file,
    stringify({ ...given, name, application, database, secrets: { as: 'environment' }, replicas: 1 }),
  );
  const { code, stderr } = await synthesize(folder);
  if (code !== 0) {
    throw new Error(`synth ended with ${code}: ${stderr}`);
  }
  return join(folder, 'dist/consumer.k8s.yaml');
}

/** Creates the Secret in the form that this podman reads: until 4.3 the bare keys, later the Kubernetes object. */
async function createSecret(name: string, values: Readonly<Record<string, string>>): Promise<void> {
  const encoded = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const data = Object.fromEntries(encoded) as Record<string, string>;
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(await podman(['--version'])) ?? [];
  const isBare = Number(major) < 4 || (Number(major) === 4 && Number(minor) < 4);
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data };
  const run = await testRun();
  const file = join(run.path, `${name}.json`);
  writeFileSync(file, JSON.stringify(isBare ? data : object), { mode: 0o600 });
  await podman(['secret', 'create', name, file]);
  run.beforeClose(() => removeWithPodman(['secret', 'rm', name]));
}

interface Infra {
  readonly State: { readonly Pid: number };
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> };
}

/**
 * Runs synthesized manifests in podman, unchanged, with the Secret that they name. For probes podman runs curl inside the
 * container, which has none, so its verdict means nothing. The Pod ends with the test file.
 */
export async function playPod(chosen: PodUnderTest): Promise<PlayedPod> {
  const manifests = await manifestsOf(chosen);
  await createSecret(chosen.database.existingSecret, chosen.secret);
  const pod = `${chosen.name}-pod-0`;
  (await testRun()).beforeClose(async () => {
    await removeWithPodman(['play', 'kube', '--down', manifests]);
    const volumes = await podman(['volume', 'ls', '--quiet', '--filter', `name=${chosen.name}`]);
    await removeWithPodman(['volume', 'rm', '--force', 'temporary', ...volumes.split('\n').filter(Boolean)]);
  });
  await podman(['play', 'kube', manifests]);
  const infraId = await podman(['pod', 'inspect', '--format', '{{.InfraContainerID}}', pod]);
  const [infra] = await podmanJson<[Infra]>(['inspect', infraId]);
  const address = Object.values(infra.NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)[0] ?? '';
  const stop = async (grace: number) => void (await podman(['pod', 'stop', '--time', String(grace), pod]));
  return { manifests, container: `${pod}-consumer`, address, pid: infra.State.Pid, stop };
}

/**
 * Probes as the kubelet does: first after the initial delay, then once in each period, with the probe's timeout.
 *
 * @param startedAt when the container was started, in milliseconds
 * @returns the HTTP status of each answer; 0 where none came
 */
export async function askProbe(
  probe: ManifestProbe,
  host: string,
  startedAt: number,
  times: number,
): Promise<number[]> {
  const { httpGet, initialDelaySeconds, periodSeconds, timeoutSeconds } = probe;
  const url = `${httpGet.scheme.toLowerCase()}://${host}:${httpGet.port}${httpGet.path}`;
  const statuses: number[] = [];
  for (let round = 0; round < times; round += 1) {
    await delay(startedAt + (initialDelaySeconds + round * periodSeconds) * 1_000 - Date.now());
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1_000) }).catch(() => undefined);
    await answer?.body?.cancel();
    statuses.push(answer?.status ?? 0);
  }
  return statuses;
}

/** Program in the Pod's network: forwards connections to a port of its loopback interface to a Unix socket. */
const POD_SIDE = `
  const { createServer, connect } = require('node:net');
  const [, port, path] = process.argv;
  createServer((near) => {
    const far = connect(path);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => { near.destroy(); far.destroy(); });
  }).listen(Number(port), '127.0.0.1');
`;

/** Forwards the connections to the Unix socket to a port of this machine. */
async function listenForPod(run: RunFolder, port: number, path: string): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          near.destroy();
          far.destroy();
          sockets.delete(socket);
        });
    }
  });
  server.listen(path);
  await once(server, 'listening');
  run.beforeClose(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
}

/**
 * Gives a Pod the loopback ports of this machine under the same numbers, since a Pod has a loopback interface of its own,
 * and Kafka tells its clients to come to 127.0.0.1.
 *
 * @param pid a process in the Pod's network
 * @param ports of servers on 127.0.0.1 of this machine
 */
export async function shareLoopback(pid: number, ports: readonly number[]): Promise<void> {
  const run = await testRun();
  for (const port of ports) {
    const path = join(run.path, `pod-${port}.sock`);
    await listenForPod(run, port, path);
    await run.spawn({
      program: 'nsenter',
      args: ['--target', String(pid), '--net', process.execPath, '--eval', POD_SIDE, String(port), path],
      env: { PATH: process.env['PATH'] },
    });
  }
}
