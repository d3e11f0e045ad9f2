import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';

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

/** Origin and time of an image, for its labels, by the names of app/Dockerfile's build arguments. */
interface ImageFacts {
  readonly VERSION: string;
  /** Where the sources are: package.json's `repository`. */
  readonly SOURCE: string;
  /** The commit, with `-dirty` after it where files differ from it; empty outside of git. */
  readonly REVISION: string;
  /** Empty outside of git, and where no branch is checked out. */
  readonly BRANCH: string;
  /** ISO 8601; empty outside of git. */
  readonly COMMIT_TIME: string;
  /** `SOURCE_DATE_EPOCH`, as ISO 8601. */
  readonly CREATED: string;
}

const isoTime = (epochSeconds: number): string => new Date(epochSeconds * 1_000).toISOString().replace('.000Z', 'Z');

/** Output of a git command; empty where git, the repository or the answer is missing. */
function git(folder: string, ...args: readonly string[]): string {
  const { status, stdout } = spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** Seconds since 1970, the time of all files in the image, so that a second build gives the same image. */
export function sourceDateEpoch(folder: string, env: Readonly<Record<string, string | undefined>>): number {
  const given = env['SOURCE_DATE_EPOCH'];
  if (given !== undefined && !/^\d{1,12}$/.test(given)) {
    throw new RangeError(`SOURCE_DATE_EPOCH is "${given}", but it has to be a number of seconds since 1970`);
  }
  return Number(given ?? git(folder, 'log', '-1', '--format=%ct'));
}

function repositoryUrl(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { repository: { url: string } };
  return manifest.repository.url.replace(/^git\+|\.git$/g, '');
}

/**
 * Reads the origin of the sources from git and package.json.
 *
 * @param folder the checkout
 * @param env where `SOURCE_DATE_EPOCH` may be; left out there: the time of the commit, and 0 (1970) outside of git
 * @throws RangeError when `SOURCE_DATE_EPOCH` is not a number
 */
export function imageFacts(folder: string, env: Readonly<Record<string, string | undefined>>): ImageFacts {
  const commit = git(folder, 'rev-parse', 'HEAD');
  const committed = git(folder, 'log', '-1', '--format=%ct');
  const isDirty = git(folder, 'status', '--porcelain') !== '';
  return {
    VERSION: PRODUCT_VERSION,
    SOURCE: repositoryUrl(folder),
    REVISION: commit === '' ? '' : `${commit}${isDirty ? '-dirty' : ''}`,
    BRANCH: git(folder, 'branch', '--show-current'),
    COMMIT_TIME: committed === '' ? '' : isoTime(Number(committed)),
    CREATED: isoTime(sourceDateEpoch(folder, env)),
  };
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

/** podman tags one image; a manifest list has an option of its own, docker's BuildKit makes one by itself. */
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
