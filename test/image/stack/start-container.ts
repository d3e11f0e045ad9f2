import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CONTAINER_PATH } from '../../../contract/container.ts';
import { randomName } from '../../integration/stack/random-name.ts';
import { testRun } from '../../integration/stack/test-run.ts';
import { manifestContainer, plainEnvironment, restrictionFlags } from './manifest-flags.ts';
import { podman, removeWithPodman, runPodman, TEST_LABEL } from './podman.ts';

/** Mount path of the folder of secret files. */
const SECRETS_FOLDER = '/etc/stream-consumer-secrets';

/** A container's settings that a test chooses. */
export interface ContainerUnderTest {
  /** Content of `application.yml`, mounted where the chart mounts its ConfigMap. */
  readonly settings: object;
  /** Secret files by their names, such as `database.password`. @default none */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Further environment variables. @default those of the manifest only */
  readonly env?: Readonly<Record<string, string>>;
  /** Further volumes, as podman takes them. @default none */
  readonly volumes?: readonly string[];
  /** Arguments of the consumer. @default none */
  readonly args?: readonly string[];
  /** Who it runs as, `uid:gid`, as where the cluster chooses. @default the manifest's user */
  readonly user?: string;
}

/** A container that a test started. */
export interface Container {
  readonly name: string;
  /** Runs a script in it with its own Node.js, and gives what it prints. */
  evaluate(script: string): Promise<string>;
  /** Runs the image's HEALTHCHECK once, and gives podman's verdict: `starting`, `healthy` or `unhealthy`. */
  checkHealth(): Promise<string>;
  /** Its output so far. */
  logs(): Promise<{ readonly stdout: string; readonly stderr: string }>;
  /** Waits until it has ended by itself or was stopped, and gives its exit code. */
  ended(): Promise<number>;
}

/** Folder with files that the container's user may read. */
async function folderWith(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join((await testRun()).path, `${name}-`));
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  for (const [file, content] of Object.entries(files)) {
    await writeFile(join(folder, file), content, { mode: 0o644 });
  }
  return folder;
}

async function runArguments(name: string, chosen: ContainerUnderTest): Promise<string[]> {
  const manifest = manifestContainer('dist/consumer.k8s.yaml');
  const configuration = await folderWith('configuration', {
    [CONTAINER_PATH.configurationFile]: stringify(chosen.settings),
  });
  const secrets = await folderWith('secrets', chosen.secrets ?? {});
  const env = { ...plainEnvironment(manifest), CONFIG_TREE: SECRETS_FOLDER, ...chosen.env };
  const volumes = [
    `${configuration}:${CONTAINER_PATH.configuration}:ro`,
    `${secrets}:${SECRETS_FOLDER}:ro`,
    ...(chosen.volumes ?? []),
  ];
  return [
    ...['run', '--name', name, '--label', TEST_LABEL, '--pull', 'never', '--network', 'host'],
    ...restrictionFlags(manifest, chosen.user),
    ...['--tmpfs', `${CONTAINER_PATH.temporary}:size=64m,mode=1777`],
    ...volumes.flatMap((volume) => ['--volume', volume]),
    ...Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
  ];
}

/**
 * Starts the image as the manifest says: read-only root, no capabilities, no new privileges, its user, its memory limit, its
 * environment. Only the network is the host's, where Kafka and PostgreSQL are. The container ends with the test file.
 */
export async function startContainer(chosen: ContainerUnderTest): Promise<Container> {
  const { image } = manifestContainer('dist/consumer.k8s.yaml');
  const name = randomName('consumer');
  const args = await runArguments(name, chosen);
  (await testRun()).beforeClose(() => removeWithPodman(['rm', '--force', '--time', '0', name]));
  await podman([...args, '--detach', image, ...(chosen.args ?? [])]);
  return {
    name,
    evaluate: (script) => podman(['exec', name, 'node', '-p', script]),
    checkHealth: async () => {
      await runPodman(['healthcheck', 'run', name]);
      return podman(['inspect', '--format', '{{.State.Health.Status}}', name]);
    },
    logs: () => runPodman(['logs', name]),
    ended: async () => Number(await podman(['wait', name])),
  };
}
