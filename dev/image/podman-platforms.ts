import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildArguments, type ImageBuild } from './build-arguments.ts';

/** The stage of app/Dockerfile that makes the bundle. */
const STAGE = 'build';

/**
 * Builds app/Dockerfile for the platforms of a build by podman, which, unlike BuildKit, runs each stage for each of them, and so
 * needs an emulator. Here the bundle is made once, for this machine; the last stage, which runs nothing, takes it from a folder.
 *
 * @param build with one platform, or several, which become a manifest list in the place of an image or list of that name
 * @param podman runs it with these arguments; gives whether it succeeded
 */
export function buildForPlatforms(build: ImageBuild, podman: (args: readonly string[]) => boolean): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  const bundle = `localhost/stream-consumer-bundle:${folder.slice(-6).toLowerCase()}`;
  const { platforms: _, ...native } = build;
  try {
    const [command = '', ...rest] = buildArguments('podman', { ...native, reference: bundle });
    if (!podman([command, '--target', STAGE, ...rest]) || !copyOut(bundle, folder)) {
      return false;
    }
    const dockerfile = join(folder, 'Dockerfile');
    writeFileSync(dockerfile, lastStage());
    forget(build.reference);
    return podman(
      buildArguments('podman', build).with(-4, dockerfile).toSpliced(1, 0, '--build-context', `${STAGE}=${folder}`),
    );
  } finally {
    spawnSync('podman', ['rmi', '--force', bundle]);
    rmSync(folder, { recursive: true });
  }
}

/** The base's argument and the stage that is the image. */
function lastStage(): string {
  const lines = readFileSync('app/Dockerfile', 'utf8').split('\n');
  const from = lines.findLastIndex((line) => line.startsWith('FROM '));
  return [...lines.filter((line) => line.startsWith('ARG NODE_IMAGE=')), ...lines.slice(from)].join('\n');
}

function copyOut(bundle: string, folder: string): boolean {
  const { stdout, status } = spawnSync('podman', ['create', bundle, 'true'], { encoding: 'utf8' });
  if (status !== 0) {
    return false;
  }
  const container = stdout.trim();
  const copied = spawnSync('podman', ['cp', `${container}:/image`, join(folder, 'image')], { stdio: 'inherit' });
  spawnSync('podman', ['rm', container]);
  return copied.status === 0;
}

/** podman adds to a list of that name, and makes none beside an image of that name. */
function forget(reference: string): void {
  for (const command of [
    ['manifest', 'rm', reference],
    ['untag', reference],
  ]) {
    spawnSync('podman', command);
  }
}
