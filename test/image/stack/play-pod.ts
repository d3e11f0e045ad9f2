import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { testRun } from '../../integration/stack/test-run.ts';
import { synthesize, temporaryCheckout } from '../../synthesis/checkout.ts';
import { podman, podmanJson, runPodman } from './podman.ts';

/** Parts of consumer.yaml that a test sets; the rest is the checkout's own. */
export interface PodUnderTest {
  readonly name: string;
  readonly application: object;
  readonly database: { readonly existingSecret: string };
  /** The keys of that Secret. */
  readonly secret: Readonly<Record<string, string>>;
}

/** A Pod that runs the synthesized manifests. */
export interface PlayedPod {
  /** The manifests it was made from. */
  readonly manifests: string;
  /** Name of the consumer's container. */
  readonly container: string;
  readonly address: string;
  /** A process in the Pod's network. */
  readonly pid: number;
  /** Stops it as the kubelet does: SIGTERM, and SIGKILL after so many seconds. */
  stop(graceSeconds: number): Promise<void>;
}

/** Synthesizes the checkout with these changes; gives the file of the workload's manifests. */
async function manifestsOf({ name, application, database }: PodUnderTest): Promise<string> {
  const folder = temporaryCheckout();
  (await testRun()).beforeClose(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, 'consumer.yaml');
  const given = parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, stringify({ ...given, name, application, database, replicas: 1 }));
  const { code, stderr } = await synthesize(folder);
  if (code !== 0) {
    throw new Error(`synth ended with ${code}: ${stderr}`);
  }
  return join(folder, 'dist/consumer.k8s.yaml');
}

/** Puts the Secret there as podman's own version reads it: until 4.3 the bare keys, later the Kubernetes object. */
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
  run.beforeClose(async () => void (await runPodman(['secret', 'rm', name])));
}

interface Infra {
  readonly State: { readonly Pid: number };
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> };
}

/**
 * Has podman run synthesized manifests, unchanged, beside the Secret that they name. Of the probes podman makes a curl inside
 * the container, which is not there, so its verdict means nothing. The Pod ends with the test file.
 */
export async function playPod(chosen: PodUnderTest): Promise<PlayedPod> {
  const manifests = await manifestsOf(chosen);
  await createSecret(chosen.database.existingSecret, chosen.secret);
  const pod = `${chosen.name}-pod-0`;
  (await testRun()).beforeClose(async () => {
    await runPodman(['play', 'kube', '--down', manifests]);
    const volumes = await podman(['volume', 'ls', '--quiet', '--filter', `name=${chosen.name}`]);
    await runPodman(['volume', 'rm', '--force', 'temporary', ...volumes.split('\n').filter(Boolean)]);
  });
  await podman(['play', 'kube', manifests]);
  const infraId = await podman(['pod', 'inspect', '--format', '{{.InfraContainerID}}', pod]);
  const [infra] = await podmanJson<[Infra]>(['inspect', infraId]);
  const address = Object.values(infra.NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)[0] ?? '';
  const stop = async (grace: number) => void (await podman(['pod', 'stop', '--time', String(grace), pod]));
  return { manifests, container: `${pod}-consumer`, address, pid: infra.State.Pid, stop };
}
