import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { removeLeftoverRuns } from '../../../dev/run/leftover-runs.ts';
import { processIdentity } from '../../../dev/run/process-identity.ts';
import { PROCESSES_FOLDER, RUN_FOLDER_PREFIX } from '../../../dev/run/recorded-processes.ts';
import { OWNER_FILE, RunFolder } from '../../../dev/run/run-folder.ts';
import { temporaryFolder } from './temporary-folder.ts';

const children: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
  }
});

function sleeper() {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  children.push(child);
  return { pid: child.pid ?? -1, exited: once(child, 'exit') };
}

/** A number that no process has any more. */
async function deadPid(): Promise<number> {
  const { pid, exited } = sleeper();
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
  it('is removed, and its processes are killed', async () => {
    const parent = temporaryFolder();
    const folder = leftBehind(parent, { pid: await deadPid(), identity: '1' });
    const { pid, exited } = sleeper();
    writeFileSync(join(folder, PROCESSES_FOLDER, String(pid)), processIdentity(pid) ?? '');
    expect(await removeLeftoverRuns(parent)).toEqual([folder]);
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(existsSync(folder)).toBe(false);
  });

  it('takes the processes of runs inside it along', async () => {
    const parent = temporaryFolder();
    const folder = leftBehind(parent, { pid: await deadPid(), identity: '1' });
    const inner = leftBehind(folder, { pid: await deadPid(), identity: '1' });
    const { pid, exited } = sleeper();
    writeFileSync(join(inner, PROCESSES_FOLDER, String(pid)), processIdentity(pid) ?? '');
    await removeLeftoverRuns(parent);
    expect(await exited).toEqual([null, 'SIGKILL']);
  });

  it('is told from a later process with the number of its owner', async () => {
    const parent = temporaryFolder();
    const folder = leftBehind(parent, { pid: process.pid, identity: 'earlier' });
    expect(await removeLeftoverRuns(parent)).toEqual([folder]);
  });

  it('does not cost a process its life that got the number of one of its own', async () => {
    const parent = temporaryFolder();
    const folder = leftBehind(parent, { pid: await deadPid(), identity: '1' });
    const { pid } = sleeper();
    writeFileSync(join(folder, PROCESSES_FOLDER, String(pid)), 'earlier');
    await removeLeftoverRuns(parent);
    expect(processIdentity(pid)).toBeDefined();
  });
});

describe('what is left alone', () => {
  it('is a run whose owner lives', async () => {
    const parent = temporaryFolder();
    const run = await RunFolder.create(parent);
    expect(await removeLeftoverRuns(parent)).toEqual([]);
    expect(existsSync(run.path)).toBe(true);
    await run.close();
  });

  it('is a run that has only just made its folder', async () => {
    const parent = temporaryFolder();
    leftBehind(parent, { pid: process.pid, identity: '' });
    expect(await removeLeftoverRuns(parent)).toEqual([]);
  });

  it('is whatever has another name', async () => {
    const parent = temporaryFolder();
    mkdirSync(join(parent, 'stream-consumer-other-1-abc'));
    expect(await removeLeftoverRuns(parent)).toEqual([]);
  });
});
