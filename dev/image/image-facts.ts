import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';

/** Origin and time of an image, for its labels, by the names of app/Dockerfile's build arguments. */
export interface ImageFacts {
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

/** As ISO 8601 in UTC. */
export const isoTime = (epochSeconds: number): string =>
  new Date(epochSeconds * 1_000).toISOString().replace('.000Z', 'Z');

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
