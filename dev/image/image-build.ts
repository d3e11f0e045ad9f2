import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { shortCommit } from '../../contract/build-info.ts';
import { imageReference } from '../../deployment/sections/image.ts';
import type { Checked } from '../../settings/schema/check.ts';
import type { Problem } from '../../settings/schema/problem.ts';
import { checkedEnvironments } from '../../synthesis/checked-environment.ts';
import type { ImageFacts } from './image-facts.ts';

/** Programs that can build the image, the preferred one first. */
export const CONTAINER_ENGINES = ['podman', 'docker'] as const;

export type ContainerEngine = (typeof CONTAINER_ENGINES)[number];

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The first engine that is installed.
 *
 * @param searchPath value of `PATH`; left out: nothing is found.
 */
export function findContainerEngine(searchPath: string | undefined): ContainerEngine | undefined {
  const folders = (searchPath ?? '').split(delimiter).filter((folder) => folder !== '');
  return CONTAINER_ENGINES.find((engine) => folders.some((folder) => isExecutable(join(folder, engine))));
}

/** One build of app/Dockerfile. */
export interface ImageBuild {
  /** Name that the image gets. */
  readonly reference: string;
  /** Base image. @default the one in app/Dockerfile */
  readonly nodeImage?: string | undefined;
  readonly facts: ImageFacts;
  /** Date of all that is in the image, in seconds since 1970. */
  readonly epoch: number;
  /** PEM file of certificates that npm has to trust as well while it installs. @default none */
  readonly certificates?: string | undefined;
  /** Whether the base image has to be there already, and no registry is asked for it. @default false */
  readonly isLocal?: boolean;
  /** Such as `linux/arm64`; several make a manifest list. @default this machine's */
  readonly platforms?: readonly string[];
}

/** podman tags one image; a manifest list has another option, docker's BuildKit makes one by itself. */
const nameFlag = (engine: ContainerEngine, { platforms = [] }: ImageBuild): string =>
  engine === 'podman' && platforms.length > 1 ? '--manifest' : '--tag';

function engineFlags(engine: ContainerEngine, { epoch, isLocal }: ImageBuild): string[] {
  if (engine === 'docker') {
    // BuildKit takes the date from there; it has no option against pulling, and pulls only what is missing
    return ['--build-arg', `SOURCE_DATE_EPOCH=${epoch}`];
  }
  // podman's own format has no place for HEALTHCHECK and drops it; the host's network is there where a bridge's is not
  const own = ['--format', 'docker', '--network', 'host', '--timestamp', String(epoch)];
  return [...own, ...(isLocal ? ['--pull-never'] : [])];
}

/** Arguments of the engine, to build app/Dockerfile from the repository's root. */
export function buildArguments(engine: ContainerEngine, build: ImageBuild): string[] {
  const { reference, nodeImage, facts, certificates, platforms = [] } = build;
  const buildArgs = { ...(nodeImage === undefined ? {} : { NODE_IMAGE: nodeImage }), ...facts };
  return [
    'build',
    ...engineFlags(engine, build),
    ...(platforms.length === 0 ? [] : ['--platform', platforms.join(',')]),
    ...(certificates === undefined ? [] : ['--secret', `id=certificates,src=${certificates}`]),
    ...Object.entries(buildArgs).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...['--file', 'app/Dockerfile', nameFlag(engine, build), reference, '.'],
  ];
}

const pinned = (name: string, digest: string): Problem => ({
  path: 'image.digest',
  message: `pins an image that exists already, and a build can't be given a digest${name === '' ? '' : ` (environment ${name})`}`,
  given: digest,
  allowed:
    'an environment without image.digest: build and push under the tag, then write the digest that the push prints',
});

const unknown = (name: string, names: readonly string[]): Problem => ({
  path: '--environment',
  message: 'names no environment',
  given: name,
  allowed: names.length === 0 ? 'nothing: environments/ is empty' : `one of ${names.join(', ')}`,
});

const several = (references: readonly string[]): Problem => ({
  path: 'image',
  message: 'differs between the consumers, and one build makes one image',
  given: references,
  allowed: 'one image for all: they differ in their settings only',
});

/**
 * The reference that synth writes into the manifests.
 *
 * @param folder where consumer.yaml is
 * @param environment the one to take the image from; empty: consumer.yaml itself
 * @param version the package's version
 */
export function imageToBuild(folder: string, environment: string, version: string): Checked<string> {
  const checked = checkedEnvironments(folder);
  if (!checked.ok) {
    return checked;
  }
  const found = checked.value.find((each) => each.folder === environment);
  if (found === undefined) {
    const names = checked.value.map((each) => each.folder).filter((name) => name !== '');
    return { ok: false, problems: [unknown(environment, names)] };
  }
  const images = found.consumers.map(({ file }) => file.image);
  const digests = images.flatMap(({ digest }) => digest ?? []);
  const references = [...new Set(images.map((image) => imageReference(image, version)))];
  const [reference] = references;
  const problems = [
    ...digests.map((digest) => pinned(environment, digest)),
    ...(references.length > 1 ? [several(references)] : []),
  ];
  return problems.length === 0 && reference !== undefined ? { ok: true, value: reference } : { ok: false, problems };
}

/**
 * The second name of an image, which no manifest has: by it a person finds the image of a commit again after the
 * version's tag has moved.
 *
 * @param reference the first name
 * @param facts origin of the image
 * @returns undefined outside of git
 */
export function commitReference(reference: string, { VERSION, REVISION }: ImageFacts): string | undefined {
  const [commit = '', ...dirty] = REVISION.split('-');
  const repository = reference.replace(/:[^:/]*$/, '');
  return commit === '' ? undefined : `${repository}:${[VERSION, shortCommit(commit), ...dirty].join('-')}`;
}

/** The stage of app/Dockerfile that makes the bundle. */
const STAGE = 'build';

/**
 * Builds app/Dockerfile for the platforms of a build by podman, which, unlike BuildKit, runs each stage for each of
 * them, and so needs an emulator. Here the bundle is made once, for this machine; the last stage, which runs nothing,
 * takes it from a folder.
 *
 * @param build with one platform, or several, which become a manifest list in the place of an image or list of that
 * name
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
