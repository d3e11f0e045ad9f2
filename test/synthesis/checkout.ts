import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';

const ROOT = resolve('.');
const EDITED = ['consumer.yaml', 'environments', 'dist'];
const LINKED = [
  'app',
  'charts',
  'cdk8s.yaml',
  'contract',
  'settings',
  'deployment',
  'main.ts',
  'monitoring',
  'node_modules',
  'package.json',
  'synthesis',
];

/** A temporary copy of the checkout: what a user edits and what synth writes is its own, the rest is linked. */
export function temporaryCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'synthesis-'));
  for (const name of EDITED) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  for (const name of LINKED) {
    symlinkSync(join(ROOT, name), join(folder, name));
  }
  return folder;
}

/** Every file below a folder with its content. */
export function contents(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).sort();
  return new Map(paths.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]));
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in a folder to its end. */
export function run(program: string, args: readonly string[], cwd: string, env: object = {}): Promise<Finished> {
  const { CDK8S_OUTDIR: _outdir, ...inherited } = process.env;
  return new Promise((done) => {
    const options = { cwd, env: { ...inherited, ...env }, encoding: 'utf8' } as const;
    const child = execFile(program, args, options, (_error, stdout, stderr) => {
      done({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

/** The command behind `npm run synth` or `npm run diff`. */
export function npmScript(name: 'synth' | 'diff'): string {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<typeof name, string>;
  };
  return scripts[name];
}

/** What `npm run synth` does, with more arguments where there are any. */
export function synthesize(cwd: string, env: object = {}, more: readonly string[] = []): Promise<Finished> {
  const [program = '', ...args] = npmScript('synth').split(' ');
  return run(program, [...args, ...more], cwd, env);
}

/** What `npm run diff` does, with more arguments where there are any. */
export function diff(cwd: string, more: readonly string[] = []): Promise<Finished> {
  const [program = '', ...args] = npmScript('diff').split(' ');
  return run(program, [...args, ...more], cwd);
}
