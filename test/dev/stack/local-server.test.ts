import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { RunFolder } from '../../../dev/run/run-folder.ts';
import { ServerStartError, startServer } from '../../../dev/stack/local-server.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

const runs: RunFolder[] = [];
afterEach(() => Promise.all(runs.map((run) => run.close())));

async function newRun(): Promise<RunFolder> {
  const run = await RunFolder.create(temporaryFolder());
  runs.push(run);
  return run;
}

const server = (script: string, startTimeout = 10_000) => ({
  name: 'Sample',
  program: 'sh',
  args: ['-c', script],
  ready: /^ready$/,
  startTimeout,
});

async function failureOf(starting: Promise<unknown>): Promise<ServerStartError> {
  const error = await starting.catch((failure: unknown) => failure);
  if (!(error instanceof ServerStartError)) {
    throw new Error('a ServerStartError was expected', { cause: error });
  }
  return error;
}

describe('a local server', () => {
  test('is started when its log says that it is ready', async () => {
    const run = await newRun();
    const { stop } = await startServer(run, server('echo begins; echo ready; exec sleep 60'));
    expect(await stop('SIGTERM', 5_000)).toEqual({ code: null, signal: 'SIGTERM' });
    expect(readFileSync(join(run.path, 'sample.log'), 'utf8')).toBe('begins\nready\n');
  });

  test('fails to start with the end of its log, all of which is kept', async () => {
    const run = await newRun();
    const { message } = await failureOf(startServer(run, server('seq 1 20; echo broken; exit 7')));
    expect(message).toMatch(/^Sample ended with exit code 7 while it started\. The end of its log \(all of it: /);
    expect(message.split('\n').slice(1)).toEqual([...Array(14).keys()].map((n) => `    ${n + 7}`).concat('    broken'));
    const [, kept = ''] = /all of it: ([^)]+)\)/.exec(message) ?? [];
    await run.close();
    expect(existsSync(kept)).toBe(true);
    rmSync(dirname(kept), { recursive: true });
  });

  test('fails to start when it says nothing, and is killed', async () => {
    const { message } = await failureOf(startServer(await newRun(), server('exec sleep 60', 100)));
    expect(message).toMatch(/^Sample was not ready after 0\.1 s/);
    rmSync(dirname(/all of it: ([^)]+)\)/.exec(message)?.[1] ?? ''), { recursive: true });
  });

  test('is started when as many parts of it as it has say that they are ready', async () => {
    const script = 'echo ready; sleep 0.2; echo almost; echo ready; exec sleep 60';
    const run = await newRun();
    const { stop } = await startServer(run, { ...server(script), readyLines: 2 });
    expect(readFileSync(join(run.path, 'sample.log'), 'utf8')).toBe('ready\nalmost\nready\n');
    await stop('SIGTERM', 5_000);
  });

  test('fails to start when it says so and goes on running, and its causes are told without the places', async () => {
    const script = String.raw`printf 'FATAL wrong\n\tat a.B.c(B.java:1)\nCaused by: this\n\t... 7 more\n'; exec sleep 60`;
    const { message } = await failureOf(startServer(await newRun(), { ...server(script), failed: /^FATAL/ }));
    expect(message).toMatch(/^Sample failed to start\. .*:\n {4}FATAL wrong\n {4}Caused by: this$/);
    rmSync(dirname(/all of it: ([^)]+)\)/.exec(message)?.[1] ?? ''), { recursive: true });
  });

  test('is killed when it does not stop in time', async () => {
    const { stop } = await startServer(
      await newRun(),
      server("trap '' TERM; echo ready; while :; do sleep 0.05; done"),
    );
    expect(await stop('SIGTERM', 100)).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('is stopped even when it was frozen', async () => {
    const { kill, stop } = await startServer(await newRun(), server('echo ready; exec sleep 60'));
    kill('SIGSTOP');
    expect(await stop('SIGTERM', 5_000)).toEqual({ code: null, signal: 'SIGTERM' });
  });
});
