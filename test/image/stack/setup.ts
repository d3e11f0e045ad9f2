import { spawnSync } from 'node:child_process';
import startStack from '../../integration/stack/setup.ts';
import { podman, removeWithPodman, runPodman, TEST_LABEL } from './podman.ts';

/** Builds the image, removes the containers that a killed run left, and starts the Kafka and the PostgreSQL of all tests. */
export default async function setup(): Promise<void> {
  if ((await runPodman(['--version']).catch(() => undefined)) === undefined) {
    throw new Error('podman is missing (Debian: apt-get install podman): the image cannot be run');
  }
  const { status } = spawnSync('npm', ['run', 'image', '--', '--local-base'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    throw new Error('the image could not be built; the message is above');
  }
  const leftovers = await podman(['ps', '--all', '--quiet', '--filter', `label=${TEST_LABEL}`]);
  for (const id of leftovers.split('\n').filter(Boolean)) {
    await removeWithPodman(['rm', '--force', '--time', '0', id]);
  }
  await startStack();
}
