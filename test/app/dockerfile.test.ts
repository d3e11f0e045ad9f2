import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { CONTAINER_USER } from '../../contract/container.ts';
import { CONTAINER_HEALTH_CHECK } from '../../contract/probes.ts';
import { valueAt } from '../../settings/schema/document.ts';
import { SettingsSchema } from '../../settings/settings.ts';

interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** Instructions in their order, continued lines joined, comments left out. */
function parseDockerfile(text: string): Instruction[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const match = /^([A-Z]+)\s+(.*)$/.exec(line.trim());
      return match?.[1] === undefined || match[2] === undefined
        ? []
        : [{ name: match[1], value: match[2].replaceAll(/\s+/g, ' ') }];
    });
}

const instructions = parseDockerfile(readFileSync('app/Dockerfile', 'utf8'));
const lastFrom = instructions.findLastIndex(({ name }) => name === 'FROM');
const finalStage = instructions.slice(lastFrom);
const valuesOf = (name: string, from: readonly Instruction[] = finalStage): string[] =>
  from.filter((instruction) => instruction.name === name).map(({ value }) => value);

describe('app/Dockerfile', () => {
  test('builds in stages from one base image, a Node.js of an exact version and digest that a build argument replaces', () => {
    expect(instructions[0]).toEqual({
      name: 'ARG',
      value: expect.stringMatching(
        /^NODE_IMAGE=docker\.io\/library\/node:26\.\d+\.\d+-[a-z]+-slim@sha256:[0-9a-f]{64}$/,
      ),
    });
    const bases = valuesOf('FROM', instructions);
    expect(bases.length).toBeGreaterThan(1);
    // Only the last stage, which runs nothing, is of another platform than the machine that builds.
    expect(bases.join('\n')).toMatch(/^--platform=\$BUILDPLATFORM \$\{NODE_IMAGE\} AS build\n\$\{NODE_IMAGE\}$/);
  });

  test('installs what the lock files say, without tools, and takes from that stage the application layer only', () => {
    const installs = valuesOf('RUN', instructions).filter((value) => value.includes('npm'));
    expect(installs).toHaveLength(1);
    expect(installs[0]?.match(/npm [^&;]*[^&; ]/g)).toEqual([
      'npm ci --ignore-scripts --omit=dev --omit=peer',
      'npm ci --ignore-scripts --prefix dev/image/layer',
    ]);
    expect(valuesOf('COPY')).toEqual(['--from=build /image ./']);
    expect(valuesOf('RUN')).toEqual([]);
  });

  test('bundles with the esbuild that the checkout has', () => {
    const locked = (file: string): Record<string, { readonly integrity?: string }> =>
      (JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, { integrity?: string }> }).packages;
    const [own, checkouts] = [locked('dev/image/layer/package-lock.json'), locked('package-lock.json')];
    const packages = Object.keys(own).filter((path) => path !== '');
    expect(packages).toContain('node_modules/esbuild');
    expect(packages.map((path) => own[path]?.integrity)).toEqual(packages.map((path) => checkouts[path]?.integrity));
  });

  test('runs as the numeric user that the Deployment enforces', () => {
    expect(valuesOf('USER')).toEqual([`${CONTAINER_USER.uid}:${CONTAINER_USER.gid}`]);
  });

  test('checks the health as the contract says, by Node.js itself', () => {
    const { intervalSeconds, timeoutSeconds, retries, startPeriodSeconds } = CONTAINER_HEALTH_CHECK;
    const [check, ...more] = valuesOf('HEALTHCHECK');
    expect(more).toEqual([]);
    const options = Object.fromEntries(
      [...(check ?? '').matchAll(/--([a-z-]+)=(\S+)/g)].map(([, key, value]) => [key, value]),
    );
    expect(options).toEqual({
      interval: `${intervalSeconds}s`,
      timeout: `${timeoutSeconds}s`,
      retries: String(retries),
      'start-period': `${startPeriodSeconds}s`,
    });
    expect(check).toMatch(/ CMD \["node", "build\/app\/health-check\.js"\]$/);
  });

  test('starts the consumer without a shell in between, and stops it with SIGTERM', () => {
    expect(valuesOf('ENTRYPOINT')).toEqual(['["node", "build/app/main.js"]']);
    expect(valuesOf('STOPSIGNAL')).toEqual(['SIGTERM']);
  });

  test('exposes the default of server.port', () => {
    expect(valuesOf('EXPOSE')).toEqual([
      String(valueAt(SettingsSchema, ['properties', 'server', 'properties', 'port', 'default'])),
    ]);
  });
});

describe('.dockerignore', () => {
  test('lets in what the Dockerfile copies, and nothing else', () => {
    const lines = readFileSync('.dockerignore', 'utf8').split('\n');
    const admitted = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const copied = valuesOf('COPY', instructions)
      .filter((value) => !value.startsWith('--from'))
      .flatMap((value) => value.split(' ').slice(0, -1));
    expect(lines).toContain('*');
    expect(new Set(admitted)).toEqual(new Set(copied));
  });
});
