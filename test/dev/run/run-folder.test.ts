import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { processIdentity } from '../../../dev/run/process-identity.ts';
import { PROCESSES_FOLDER } from '../../../dev/run/recorded-processes.ts';
import { RunFolder } from '../../../dev/run/run-folder.ts';
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
  it('lets others pass through but not look in', async () => {
    const run = await newRun();
    expect(statSync(run.path).mode & 0o777).toBe(0o711);
  });

  it('records each process while it lives', async () => {
    const run = await newRun();
    const { pid, kill, exited } = await run.spawn(sleeper);
    const record = join(run.path, PROCESSES_FOLDER, String(pid));
    expect(readFileSync(record, 'utf8')).toBe(processIdentity(pid));
    kill('SIGTERM');
    await exited;
    expect(existsSync(record)).toBe(false);
  });

  it('stops what was registered in reverse order, kills the rest and goes away', async () => {
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

  it('starts nothing once it is being closed', async () => {
    const run = await newRun();
    const closing = run.close();
    await expect(run.spawn(sleeper)).rejects.toThrow('sleep was not started: the run is being ended');
    await closing;
  });

  it('can be given up at once', async () => {
    const run = await newRun();
    const { exited } = await run.spawn(sleeper);
    run.abandon();
    expect(existsSync(run.path)).toBe(false);
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
  });

  it.each(['close', 'abandon'] as const)('takes the processes of a run inside it along: %s', async (way) => {
    const outer = await newRun();
    const inner = await RunFolder.create(outer.path);
    const { exited } = await inner.spawn(sleeper);
    await outer[way]();
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
    await inner.close();
  });

  it('says which program could not be started', async () => {
    const run = await newRun();
    await expect(run.spawn({ program: 'no-such-program', args: [] })).rejects.toThrow(
      /^no-such-program could not be started: .*ENOENT/,
    );
  });

  it('gives the output of a program that ends by itself', async () => {
    const run = await newRun();
    const ended = await run.complete({ program: 'sh', args: ['-c', 'echo out; echo err >&2; printf rest; exit 3'] });
    expect(ended).toMatchObject({ code: 3, signal: null });
    expect([...ended.output].sort()).toEqual(['err', 'out', 'rest']);
  });

  it('leaves no trace in its parent folder', async () => {
    const parent = temporaryFolder();
    await (await RunFolder.create(parent)).close();
    expect(readdirSync(parent)).toEqual([]);
  });
});
