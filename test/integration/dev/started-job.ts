import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll } from '@jest/globals';
import { LogLines, readLines } from '../../../dev/run/log-lines.ts';
import { RUN_FOLDER_PREFIX } from '../../../dev/run/recorded-processes.ts';
import { runFolderParent } from '../../../dev/run/run-folder.ts';

const ESCAPE = '\u001b';
export const CTRL_C = '\u0003';

export const REPOSITORY = resolve(import.meta.dirname, '..', '..', '..');

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) {
    child.kill('SIGKILL');
  }
});

/** Runs a program of dev/bootstrap.mjs without npm, whose own exit code after a signal is not the script's. */
export function startWith(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const command = [join(REPOSITORY, 'dev', 'bootstrap.mjs'), ...args];
  return follow(spawn(process.execPath, command, { env: { ...process.env, ...env } }));
}

/** The lines and the end of a process, which is killed after the tests of the file at the latest. */
export function follow(child: ChildProcessWithoutNullStreams) {
  children.push(child);
  const lines = new LogLines();
  readLines(child.stdout, (line) => lines.add(line));
  readLines(child.stderr, (line) => lines.add(line));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, lines, ended, runFolders: () => runFoldersOf(child.pid) };
}

/** Names of the run folders that a process has made. */
export const runFoldersOf = (pid: number | undefined): readonly string[] =>
  readdirSync(runFolderParent()).filter((name) => name.startsWith(`${RUN_FOLDER_PREFIX}${pid}-`));

/** Command lines of all processes that mention a text. */
export const processesWith = (text: string): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/cmdline`))
    .map((name) => readCommandLine(name))
    .filter((command) => command.includes(text));

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Runs `npm start` on a terminal of 160 columns, which util-linux's script makes; `raw` writes escape characters as ESC. */
export async function onTerminal(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const command = ['stty cols 160; exec', process.execPath, join(REPOSITORY, 'dev', 'bootstrap.mjs'), 'start', ...args];
  const { NO_COLOR: _, ...others } = process.env;
  const child = spawn('script', ['--quiet', '--return', '--command', command.join(' '), '/dev/null'], {
    env: { ...others, ...env },
  });
  let raw = '';
  child.stdout.on('data', (chunk) => (raw += String(chunk)));
  const { lines, ended } = follow(child);
  const ready = stripVTControlCharacters(await lines.waitFor(/consumer +ready/, 90_000));
  const pid = Number(/-run-(\d+)-/.exec(ready)?.[1]);
  return { child, lines, ended, pid, raw: () => raw.replaceAll(ESCAPE, 'ESC') };
}

/** Runs `npm run trouble` for the npm start of a process. */
export async function trouble(pid: number | undefined, ...args: readonly string[]) {
  const { ended, lines } = startWith({}, 'trouble', ...args, '--process', String(pid));
  return { code: await ended, said: lines.all.join('\n') };
}
