import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { SCRATCH_FOLDER } from '../../../synthesis/dist-folder.ts';
import {
  contents,
  diff,
  type Finished,
  npmScript,
  run,
  synthesize,
  temporaryCheckout,
} from '../../synthesis/checkout.ts';
import { IS_LONG_RUN, longTest } from '../stack/long-test.ts';

const SLOW_MACHINE_MS = 180_000;

const folders: string[] = [];

function checkout(): string {
  const folder = temporaryCheckout();
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('npm run synth', () => {
  let folder = '';
  let finished: Finished;

  beforeAll(async () => {
    folder = checkout();
    writeFileSync(
      join(folder, 'environments/bare.yaml'),
      'namespace: { name: bare }\nmonitoring: { customResources: false, dashboards: { enabled: false } }\n',
    );
    finished = await synthesize(folder, { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8' });
  }, SLOW_MACHINE_MS);

  test('writes the bytes that are committed, in any time zone and language; else run it and commit dist/', () => {
    const own = [...contents(join(folder, 'dist'))].filter(([path]) => !path.startsWith('bare/'));
    expect(new Map(own)).toEqual(contents('dist'));
  });

  test('prints the paths that it wrote, and nothing else', () => {
    const paths = [...contents(join(folder, 'dist')).keys()].map((path) => `dist/${path}\n`);
    expect(finished).toEqual({ code: 0, stdout: paths.join(''), stderr: '' });
  });

  test('leaves the custom resources and the dashboards out where consumer.yaml says so', () => {
    expect([...contents(join(folder, 'dist/bare')).keys()]).toEqual([
      'consumer.k8s.yaml',
      'prometheus/rules.yml',
      'prometheus/scrape-pods.yml',
      'prometheus/scrape.yml',
    ]);
  });
});

longTest(
  'npm run synth twice writes the same bytes, whatever the umask',
  async () => {
    const folder = checkout();
    const script = `umask 077 && ${npmScript('synth')} && umask 002 && ${npmScript('synth')}`;
    const finished = await run('sh', ['-c', script], folder, { TZ: 'America/St_Johns', LC_ALL: 'C' });
    expect(finished).toMatchObject({ code: 0, stderr: '' });
    expect(contents(join(folder, 'dist'))).toEqual(contents('dist'));
  },
  SLOW_MACHINE_MS,
);

longTest(
  'npm run synth -- --env and npm run diff see one environment, and diff says by its exit code whether anything would change',
  async () => {
    const folder = checkout();
    const file = join(folder, 'environments/staging.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('replicas: 1', 'replicas: 3'));
    expect(await diff(folder)).toEqual({
      code: 1,
      stdout: expect.stringContaining(
        '~ Deployment stream-consumer-staging/orders-consumer\n      - spec.replicas: 1\n',
      ),
      stderr: '',
    });
    expect(contents(join(folder, 'dist'))).toEqual(contents('dist'));
    const written = await synthesize(folder, {}, ['--env', 'staging']);
    expect(written).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(dist\/staging\/.*\n)+$/) });
    expect(await diff(folder, ['--env', 'staging'])).toMatchObject({ code: 0, stderr: '' });
    expect(await diff(folder, ['--env', 'prod'])).toMatchObject({ code: 2, stdout: '' });
    rmSync(join(folder, 'dist/grafana/stream-consumer.json'));
    expect(await diff(folder)).toMatchObject({ code: 1, stdout: expect.stringContaining('+ grafana/stream-consumer') });
  },
  SLOW_MACHINE_MS,
);

test(
  'several consumers have a file each, after the one with the Namespaces that they share',
  async () => {
    const folder = checkout();
    rmSync(join(folder, 'environments'), { recursive: true });
    const base = readFileSync(join(folder, 'consumer.yaml'), 'utf8').replace(/^name:.*/m, '');
    const list = 'consumers:\n  - name: a\n  - name: b\n    application: { kafka: { topics: [b], groupId: b } }\n';
    writeFileSync(join(folder, 'consumer.yaml'), base + list);
    const gone = /^note: Deployment stream-consumer\/orders-consumer is in dist\/ no longer, .*\n$/;
    expect(await synthesize(folder)).toMatchObject({ code: 0, stderr: expect.stringMatching(gone) });
    const written = contents(join(folder, 'dist'));
    expect([...written.keys()]).toEqual([
      '00-namespaces.k8s.yaml',
      'consumer-a.k8s.yaml',
      'consumer-b.k8s.yaml',
      'grafana.k8s.yaml',
      'grafana/stream-consumer.json',
      'grafana/stream-consumers.json',
      'monitoring-a.k8s.yaml',
      'monitoring-b.k8s.yaml',
      'prometheus/a/rules.yml',
      'prometheus/a/scrape-pods.yml',
      'prometheus/a/scrape.yml',
      'prometheus/b/rules.yml',
      'prometheus/b/scrape-pods.yml',
      'prometheus/b/scrape.yml',
    ]);
    expect([...written.values()].join('\n').match(/^kind: Namespace$/gm)).toHaveLength(1);
  },
  SLOW_MACHINE_MS,
);

describe('npm run synth with mistakes', () => {
  let folder = '';
  let finished: Finished;

  beforeAll(async () => {
    folder = checkout();
    const base = readFileSync(join(folder, 'consumer.yaml'), 'utf8');
    writeFileSync(join(folder, 'consumer.yaml'), base.replace(/^replicas:.*/m, 'replicas: many\nreplica: 2'));
    writeFileSync(
      join(folder, 'environments/staging.yaml'),
      'image:\n  tag: latest\nterminationGracePeriodSeconds: 20\napplication:\n  kafka:\n    brokers: [nowhere]\n',
    );
    finished = await synthesize(folder);
  }, SLOW_MACHINE_MS);

  test('tells all problems of all files with their places', () => {
    const { stderr } = finished;
    expect(stderr).toMatch(/^Nothing was synthesized, dist\/ is as it was: 5 problems\n/);
    expect(stderr).toMatch(/replicas .*"many" \(consumer\.yaml:\d+:\d+\)\n {2}allowed: a whole number/);
    expect(stderr).toMatch(/replica is not a known key.*\(consumer\.yaml:\d+:\d+\); did you mean replicas\?/);
    expect(stderr).toMatch(/image\.tag moves.*"latest" \(environments\/staging\.yaml:2:8\)/);
    expect(stderr).toMatch(
      /terminationGracePeriodSeconds .*application\.shutdown\.timeout.*\(environments\/staging\.yaml:3:32\)/,
    );
    expect(stderr).toMatch(/application\.kafka\.brokers\[0\] .*"nowhere" \(environments\/staging\.yaml:6:15\)/);
  });

  test('ends with exit code 1, without a stack trace, and leaves dist/ as it was', () => {
    expect(finished).toMatchObject({ code: 1, stdout: '' });
    expect(finished.stderr).not.toMatch(/^\s+at /m);
    expect(contents(join(folder, 'dist'))).toEqual(contents('dist'));
  });
});

test(
  'npm run synth explains itself, and refuses options that it does not have',
  async () => {
    const folder = checkout();
    const [help, wrong] = await Promise.all([
      synthesize(folder, {}, ['--help']),
      synthesize(folder, {}, ['--environment', 'staging']),
    ]);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('npx cdk8s synth'), stderr: '' });
    expect(wrong).toEqual({ code: 1, stdout: '', stderr: "Nothing was synthesized: Unknown option '--environment'\n" });
    expect(contents(join(folder, 'dist'))).toEqual(contents('dist'));
  },
  SLOW_MACHINE_MS,
);

describe('npx cdk8s synth', () => {
  test('renders to the folder that is then published', () => {
    const { output } = parse(readFileSync('cdk8s.yaml', 'utf8')) as { output: string };
    expect(output).toBe(SCRATCH_FOLDER);
  });

  const PLACES = [
    ['077', 'America/St_Johns', 'C'],
    ['022', 'Pacific/Kiritimati', 'tr_TR.UTF-8'],
  ] as const;

  /** The CLI with its look for a newer version of itself switched off. */
  const cdk8sSynth = (folder: string, umask: string, env: object = {}) =>
    run('sh', ['-c', `umask ${umask} && exec node_modules/.bin/cdk8s synth`], folder, {
      CDK8S_CHECK_UPGRADE: 'false',
      ...env,
    });

  test(
    'writes dist/ and says so where the CLI lets it, the same bytes in any time zone, language and umask',
    async () => {
      const folder = checkout();
      rmSync(join(folder, 'dist'), { recursive: true });
      const written = { code: 0, paths: [...contents('dist').keys()].map((path) => `dist/${path}`) };
      for (const [umask, TZ, LC_ALL] of IS_LONG_RUN ? PLACES : PLACES.slice(0, 1)) {
        const { code, stderr } = await cdk8sSynth(folder, umask, { TZ, LC_ALL });
        expect({ code, paths: stderr.trim().split('\n') }).toEqual(written);
        expect(contents(join(folder, 'dist'))).toEqual(contents('dist'));
      }
    },
    2 * SLOW_MACHINE_MS,
  );

  test(
    'with mistakes tells all of them, ends with exit code 1, and leaves dist/ as it was',
    async () => {
      const folder = checkout();
      writeFileSync(join(folder, 'environments/staging.yaml'), 'replicas: many\nimage: { tag: latest }\n');
      const { code, stderr } = await cdk8sSynth(folder, '022');
      expect(code).toBe(1);
      expect(stderr).toContain('Nothing was synthesized, dist/ is as it was: 2 problems\n');
      expect(stderr).toMatch(/replicas .*"many" \(environments\/staging\.yaml:1:11\)/);
      expect(stderr).toMatch(/image\.tag moves.*"latest" \(environments\/staging\.yaml:2:15\)/);
      expect(contents(join(folder, 'dist'))).toEqual(contents('dist'));
    },
    SLOW_MACHINE_MS,
  );
});
