import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from './run/temporary-folder.ts';

const DEV = join(import.meta.dirname, '..', '..', 'dev');
const LOCKED = { version: '1.0.0', integrity: 'sha512-a' };

/** What a busy machine does now and then: the new program runs for a while before spawn has returned. */
const SLOW_SPAWN = `
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
const { spawn } = childProcess;
childProcess.spawn = (...args) => {
  const child = spawn(...args);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  return child;
};
syncBuiltinESMExports();
`;

interface Checkout {
  readonly engines?: string;
  /** What node_modules/.package-lock.json says; undefined: nothing is installed. */
  readonly installed?: Readonly<Record<string, unknown>>;
  readonly npmExitCode?: number;
}

/** A checkout whose Jest tells its arguments and whose npm writes down that it was called. */
class SampleCheckout {
  readonly folder = temporaryFolder();

  constructor({ engines = '>=20.19', installed, npmExitCode = 0 }: Checkout) {
    this.write('package.json', JSON.stringify({ engines: { node: engines } }));
    const optional = { ...LOCKED, optional: true };
    const withoutIntegrity = { version: '2.0.0' };
    const packages = {
      '': {},
      'node_modules/a': LOCKED,
      'node_modules/b': withoutIntegrity,
      'node_modules/for-others': optional,
    };
    this.write('package-lock.json', JSON.stringify({ packages }));
    this.write('dev/.keep', '');
    for (const name of ['bootstrap.mjs', 'test-programs.mjs']) {
      copyFileSync(join(DEV, name), join(this.folder, 'dev', name));
    }
    if (installed !== undefined) {
      this.write('node_modules/.package-lock.json', JSON.stringify({ packages: installed }));
      this.write('node_modules/a/package.json', '{}');
      this.write('node_modules/b/package.json', '{}');
    }
    this.jest('console.log(JSON.stringify(process.argv.slice(2)))');
    this.write('bin/npm', `#!/bin/sh\necho "$@" >> ${this.folder}/npm.log\nexit ${npmExitCode}\n`);
    chmodSync(join(this.folder, 'bin', 'npm'), 0o755);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** The program that stands where Jest's does. */
  jest(script: string): void {
    this.write('node_modules/jest/bin/jest.js', script);
  }

  get npmCalls(): string {
    const log = join(this.folder, 'npm.log');
    return existsSync(log) ? readFileSync(log, 'utf8').trim() : '';
  }

  start(args: readonly string[], variables: NodeJS.ProcessEnv = {}) {
    const env = { ...process.env, ...variables };
    env['PATH'] = `${join(this.folder, 'bin')}:${env['PATH']}`;
    return spawn(process.execPath, [join(this.folder, 'dev', 'bootstrap.mjs'), ...args], { env, cwd: '/' });
  }

  async run(args: readonly string[], variables?: NodeJS.ProcessEnv) {
    const child = this.start(args, variables);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const [code, signal] = await once(child, 'close');
    return { code, signal, stdout, stderr };
  }
}

const B = { version: '2.0.0', integrity: 'sha512-b' };
const upToDate = { installed: { 'node_modules/a': LOCKED, 'node_modules/b': B } };

describe('the bootstrap', () => {
  test('runs Jest with the arguments when all is installed, and does not ask npm', async () => {
    const checkout = new SampleCheckout(upToDate);
    const { code, stdout } = await checkout.run(['test', '--selectProjects', 'unit']);
    expect(JSON.parse(stdout)).toEqual(['--selectProjects', 'unit']);
    expect({ code, npm: checkout.npmCalls }).toEqual({ code: 0, npm: '' });
  });

  test.each<[string, Checkout, RegExp]>([
    ['are not there', {}, /not installed yet/],
    ['have another version', { installed: { 'node_modules/a': { ...LOCKED, version: '0.9.0' } } }, /out of date \(a\)/],
    ['have another content', { installed: { 'node_modules/a': { ...LOCKED, integrity: 'b' } } }, /out of date \(a\)/],
    ['were installed without those for development', { installed: {} }, /out of date \(a\)/],
  ])('installs the packages when they %s', async (_, state, reason) => {
    const checkout = new SampleCheckout(state);
    const { stderr } = await checkout.run(['test']);
    expect(stderr).toMatch(reason);
    expect(checkout.npmCalls).toMatch(/^ci .*--include=dev/);
  });

  test('installs the packages when the folder of one is gone', async () => {
    const checkout = new SampleCheckout(upToDate);
    rmSync(join(checkout.folder, 'node_modules', 'a'), { recursive: true });
    expect((await checkout.run(['test'])).stderr).toMatch(/node_modules\/a is missing/);
  });

  test('ends in words when npm fails', async () => {
    const { code, stdout, stderr } = await new SampleCheckout({ npmExitCode: 7 }).run(['test']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/npm ci ended with exit code 7/);
    expect(stderr).not.toContain('    at ');
  });

  test('refuses a Node that is too old, before anything else', async () => {
    const checkout = new SampleCheckout({ engines: '>=99.1' });
    const { code, stderr } = await checkout.run(['test']);
    expect(stderr).toBe(
      `Node.js ${process.versions.node} is too old: >=99.1 is needed. Install one from https://nodejs.org or your version manager.\n`,
    );
    expect({ code, npm: checkout.npmCalls }).toEqual({ code: 1, npm: '' });
  });

  test('names the programs that there are', async () => {
    const { code, stderr } = await new SampleCheckout(upToDate).run(['tset']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        'one of start, trouble, chaos, test, test:image, test:postgres-13, test:long, dashboards:preview is',
      ),
    });
  });

  test('hands on the exit code', async () => {
    const checkout = new SampleCheckout(upToDate);
    checkout.jest('process.exit(5)');
    expect(await checkout.run(['test'])).toMatchObject({ code: 5, signal: null });
  });

  test('hands on a signal and ends as the program did', async () => {
    const checkout = new SampleCheckout(upToDate);
    checkout.jest("process.once('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000); console.log('runs')");
    const child = checkout.start(['test']);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([9, null]);
  });

  test('ends by the signal, in silence, when one ended the installation', async () => {
    const checkout = new SampleCheckout({});
    checkout.write('bin/npm', "#!/bin/sh\ntrap 'exit 1' INT\necho runs >&2\nwhile :; do sleep 0.05; done\n");
    const child = checkout.start(['test']);
    let stderr = '';
    const runs = new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk) => {
        stderr += String(chunk);
        if (stderr.includes('runs')) resolve();
      });
    });
    await runs;
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([null, 'SIGINT']);
    expect(stderr).not.toMatch(/exit code/);
  });

  test('hands on a signal that comes before the start of the program has returned', async () => {
    const checkout = new SampleCheckout({});
    checkout.write('bin/npm', "#!/bin/sh\ntrap 'exit 1' INT\nkill -INT $PPID\nwhile :; do sleep 0.05; done\n");
    checkout.write('slow-spawn.mjs', SLOW_SPAWN);
    const end = await checkout.run(['test'], { NODE_OPTIONS: `--import=${join(checkout.folder, 'slow-spawn.mjs')}` });
    expect(end).toMatchObject({ code: null, signal: 'SIGINT' });
  });

  test('names in its last lines what was not tested, after the failure of tests, too', async () => {
    const checkout = new SampleCheckout(upToDate);
    checkout.jest("console.log('ran'); process.exit(5)");
    checkout.write('without-root.cjs', 'process.getuid = () => 1000;');
    const { code, stdout, stderr } = await checkout.run(['test'], {
      NODE_OPTIONS: `--require=${join(checkout.folder, 'without-root.cjs')}`,
      PATH: '',
    });
    expect({ code, stdout }).toEqual({ code: 5, stdout: 'ran\n' });
    expect(stderr).toMatch(/NOT TESTED(.|\n)*the GitOps examples(.|\n)*One command mends it .* kubernetes-client.*\n$/);
  });

  test('tells long tests by the environment', async () => {
    const checkout = new SampleCheckout(upToDate);
    checkout.jest('console.log(process.env.STREAM_CONSUMER_LONG_TESTS)');
    expect((await checkout.run(['test:long'])).stdout).toBe('true\n');
  });
});
