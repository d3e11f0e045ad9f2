import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { PROCESSES_FOLDER, processIdentity, RUN_FOLDER_PREFIX } from '../../../dev/run/recorded-processes.ts';
import { OWNER_FILE, RunFolder, removeLeftoverRuns } from '../../../dev/run/run-folder.ts';
import { temporaryFolder } from './temporary-folder.ts';

const runs: RunFolder[] = [];
afterEach(() => Promise.all(runs.map((run) => run.close())));

async function newRun(): Promise<RunFolder> {
  const run = await RunFolder.create(temporaryFolder());
  runs.push(run);
  return run;
}

const sleeper = { program: 'sleep', args: ['60'] };

describe('a run folder', () => {
  test('lets others pass through but not look in', async () => {
    const run = await newRun();
    expect(statSync(run.path).mode & 0o777).toBe(0o711);
  });

  test('records each process while it lives', async () => {
    const run = await newRun();
    const { pid, kill, exited } = await run.spawn(sleeper);
    const record = join(run.path, PROCESSES_FOLDER, String(pid));
    expect(readFileSync(record, 'utf8')).toBe(processIdentity(pid));
    kill('SIGTERM');
    await exited;
    expect(existsSync(record)).toBe(false);
  });

  test('stops what was registered in reverse order, kills the rest and goes away', async () => {
    const run = await newRun();
    const order: string[] = [];
    run.beforeClose(async () => void order.push('database'));
    run.beforeClose(async () => void order.push('consumer'));
    const { pid, exited } = await run.spawn(sleeper);
    await run.close();
    expect(order).toEqual(['consumer', 'database']);
    expect(await exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(processIdentity(pid)).toBeUndefined();
    expect(existsSync(run.path)).toBe(false);
  });

  test('does all else where a stop fails, and then fails as the first one did', async () => {
    const run = await RunFolder.create(temporaryFolder());
    const order: string[] = [];
    run.beforeClose(async () => void order.push('database'));
    for (const name of ['container', 'Pod']) {
      run.beforeClose(() => Promise.reject(new Error(`the ${name} does not end`)));
    }
    const { pid } = await run.spawn(sleeper);
    await expect(run.close()).rejects.toThrow('the Pod does not end');
    expect(order).toEqual(['database']);
    expect(processIdentity(pid)).toBeUndefined();
    expect(existsSync(run.path)).toBe(false);
  });

  test('starts nothing once it is being closed', async () => {
    const run = await newRun();
    const closing = run.close();
    await expect(run.spawn(sleeper)).rejects.toThrow('sleep was not started: the run is being ended');
    await closing;
  });

  test('can be given up at once', async () => {
    const run = await newRun();
    const { exited } = await run.spawn(sleeper);
    run.abandon();
    expect(existsSync(run.path)).toBe(false);
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
  });

  test.each(['close', 'abandon'] as const)('takes the processes of a run inside it along: %s', async (way) => {
    const outer = await newRun();
    const inner = await RunFolder.create(outer.path);
    const { exited } = await inner.spawn(sleeper);
    await outer[way]();
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
    await inner.close();
  });

  test('says which program could not be started', async () => {
    const run = await newRun();
    await expect(run.spawn({ program: 'no-such-program', args: [] })).rejects.toThrow(
      /^no-such-program could not be started: .*ENOENT/,
    );
  });

  test('gives the output of a program that ends by itself', async () => {
    const run = await newRun();
    const ended = await run.complete({ program: 'sh', args: ['-c', 'echo out; echo err >&2; printf rest; exit 3'] });
    expect(ended).toMatchObject({ code: 3, signal: null });
    expect([...ended.output].sort()).toEqual(['err', 'out', 'rest']);
  });

  test('leaves no trace in its parent folder', async () => {
    const parent = temporaryFolder();
    await (await RunFolder.create(parent)).close();
    expect(readdirSync(parent)).toEqual([]);
  });
});

const children: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
  }
});

function startSleeper() {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  children.push(child);
  return { pid: child.pid ?? -1, exited: once(child, 'exit') };
}

/** A number that no process has any more. */
async function deadPid(): Promise<number> {
  const { pid, exited } = startSleeper();
  children.at(-1)?.kill('SIGKILL');
  await exited;
  return pid;
}

function leftBehind(parent: string, owner: { pid: number; identity: string }): string {
  const folder = join(parent, `${RUN_FOLDER_PREFIX}${owner.pid}-abc`);
  mkdirSync(join(folder, PROCESSES_FOLDER), { recursive: true });
  writeFileSync(join(folder, OWNER_FILE), owner.identity);
  return folder;
}

describe('a run that crashed', () => {
  test('is removed, and its processes are killed', async () => {
    const parent = temporaryFolder();
    const folder = leftBehind(parent, { pid: await deadPid(), identity: '1' });
    const { pid, exited } = startSleeper();
    writeFileSync(join(folder, PROCESSES_FOLDER, String(pid)), processIdentity(pid) ?? '');
    expect(await removeLeftoverRuns(parent)).toEqual([folder]);
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(existsSync(folder)).toBe(false);
  });

  test('takes the processes of runs inside it along', async () => {
    const parent = temporaryFolder();
    const folder = leftBehind(parent, { pid: await deadPid(), identity: '1' });
    const inner = leftBehind(folder, { pid: await deadPid(), identity: '1' });
    const { pid, exited } = startSleeper();
    writeFileSync(join(inner, PROCESSES_FOLDER, String(pid)), processIdentity(pid) ?? '');
    await removeLeftoverRuns(parent);
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  test('is told from a later process with the number of its owner', async () => {
    const parent = temporaryFolder();
    const folder = leftBehind(parent, { pid: process.pid, identity: 'earlier' });
    expect(await removeLeftoverRuns(parent)).toEqual([folder]);
  });

  test('does not cost a process its life that got the number of one of its own', async () => {
    const parent = temporaryFolder();
    const folder = leftBehind(parent, { pid: await deadPid(), identity: '1' });
    const { pid } = startSleeper();
    writeFileSync(join(folder, PROCESSES_FOLDER, String(pid)), 'earlier');
    await removeLeftoverRuns(parent);
    expect(processIdentity(pid)).toBeDefined();
  });
});

describe('what is left alone', () => {
  test('is a run whose owner lives', async () => {
    const parent = temporaryFolder();
    const run = await RunFolder.create(parent);
    expect(await removeLeftoverRuns(parent)).toEqual([]);
    expect(existsSync(run.path)).toBe(true);
    await run.close();
  });

  test('is a run that has only just made its folder', async () => {
    const parent = temporaryFolder();
    leftBehind(parent, { pid: process.pid, identity: '' });
    expect(await removeLeftoverRuns(parent)).toEqual([]);
  });

  test('is whatever has another name', async () => {
    const parent = temporaryFolder();
    mkdirSync(join(parent, 'stream-consumer-other-1-abc'));
    expect(await removeLeftoverRuns(parent)).toEqual([]);
  });
});
