import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ContainerEngine } from './image-build.ts';

interface ManifestList {
  readonly manifests?: readonly { readonly platform: { readonly os: string; readonly architecture: string } }[];
}

/** The base image of app/Dockerfile, by tag and digest. */
export const usualBase = (): string => /^ARG NODE_IMAGE=(.*)$/m.exec(readFileSync('app/Dockerfile', 'utf8'))?.[1] ?? '';

/** The one that dev/image/base.sh makes under the same tag: no digest of a registry is its own. */
export const localBase = (): string => usualBase().replace(/@.*$/, '');

function ask(
  engine: ContainerEngine,
  ...args: readonly string[]
): { readonly answer: string; readonly problem: string } {
  const { status, stdout, stderr } = spawnSync(engine, args, { encoding: 'utf8' });
  return { answer: status === 0 ? stdout.trim() : '', problem: stderr.trim().split('\n').at(-1) ?? '' };
}

function listed(text: string): readonly string[] {
  const { manifests = [] } = JSON.parse(text || '{}') as ManifestList;
  return manifests.map(({ platform }) => `${platform.os}/${platform.architecture}`);
}

/**
 * Looks for a base image for each platform: here, and where that is allowed in its registry. A build without it would
 * take the base of this machine's architecture, or end in the middle.
 *
 * @param isLocal whether no registry is asked
 * @returns what is missing, and what to do; undefined where nothing is
 */
export function missingBase(
  engine: ContainerEngine,
  base: string,
  platforms: readonly string[],
  isLocal: boolean,
): string | undefined {
  const here = ask(engine, 'image', 'inspect', '--format', '{{.Os}}/{{.Architecture}}', base).answer;
  if (platforms.every((platform) => platform === here)) {
    return undefined;
  }
  const { answer, problem } = isLocal ? { answer: '', problem: '' } : ask(engine, 'manifest', 'inspect', base);
  const there = [here, ...listed(answer)];
  const missing = platforms.filter((platform) => !there.includes(platform));
  if (missing.length === 0) {
    return undefined;
  }
  const found = there.filter((platform) => platform !== '').join(', ') || 'no platform';
  return [
    `The base image ${base} is there for ${found}, and not for ${missing.join(', ')}${problem === '' ? '' : ` (${engine}: ${problem})`}.`,
    isLocal ? '--local-base makes that of this machine alone: leave it out where a registry has the others,' : '',
    'Name a base that has them, --node-image IMAGE, or leave those platforms out: no image was built.',
  ]
    .filter((line) => line !== '')
    .join('\n');
}
