import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testRun } from './test-run.ts';
import { until } from './until.ts';

/** A control group of Linux with a limit of memory: the kernel kills a process in it that goes beyond. */
export interface MemoryGroup {
  /** For `startConsumer`: what becomes the process enters the group first. */
  readonly shell: string;
  /** Processes that the kernel has killed in it. */
  kills(): number;
}

const MEMORY_V2 = '/sys/fs/cgroup/cgroup.controllers';

/** The file of the limit, that of the swap, and the one that counts the kills, in both versions of control groups. */
const FILES = {
  v1: { limit: 'memory.limit_in_bytes', swap: 'memory.memsw.limit_in_bytes', kills: 'memory.oom_control' },
  v2: { limit: 'memory.max', swap: 'memory.swap.max', kills: 'memory.events' },
} as const;

/** The control group that this process is in. */
function ownGroup(): { readonly path: string; readonly version: keyof typeof FILES } {
  const groups = readFileSync('/proc/self/cgroup', 'utf8');
  const isV2 = existsSync(MEMORY_V2) && readFileSync(MEMORY_V2, 'utf8').split(/\s/).includes('memory');
  const path = (isV2 ? /^0::(.*)$/m : /^\d+:memory:(.*)$/m).exec(groups)?.[1] ?? '/';
  return isV2
    ? { version: 'v2', path: join('/sys/fs/cgroup', path) }
    : { version: 'v1', path: join('/sys/fs/cgroup/memory', path) };
}

/** Makes a group below that of this process, and gives its path, or why there cannot be one. */
function makeGroup(name: string, bytes: number): { readonly path: string; readonly kills: string } | Error {
  try {
    const { version, path: own } = ownGroup();
    const path = join(own, name);
    const files = FILES[version];
    mkdirSync(path);
    try {
      writeFileSync(join(path, files.limit), String(bytes));
    } catch (error) {
      rmdirSync(path);
      throw error;
    }
    if (existsSync(join(path, files.swap))) {
      writeFileSync(join(path, files.swap), String(version === 'v2' ? 0 : bytes));
    }
    return { path, kills: join(path, files.kills) };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

let groups = 0;
function nextName(): string {
  groups += 1;
  return `stream-consumer-test-${process.pid}-${groups}`;
}

/** Why no limit of memory can be set here; `null` where one can. It needs root, and a writable control group. */
export function whyNoMemoryGroup(): string | null {
  const group = makeGroup(nextName(), 2 ** 30);
  if (group instanceof Error) {
    return group.message;
  }
  rmdirSync(group.path);
  return null;
}

/**
 * Makes a group with a limit of memory; it is gone with the test file. Where none can be made the process has no limit
 * but that of its heap, and nothing is killed.
 */
export async function memoryGroup(bytes: number): Promise<MemoryGroup> {
  const group = makeGroup(nextName(), bytes);
  if (group instanceof Error) {
    return { shell: 'exec "$@"', kills: () => 0 };
  }
  const { path, kills } = group;
  const processes = join(path, 'cgroup.procs');
  (await testRun()).beforeClose(async () => {
    for (const pid of readFileSync(processes, 'utf8').split('\n').filter(Boolean)) {
      process.kill(Number(pid), 'SIGKILL');
    }
    await until('an empty control group', async () => {
      rmdirSync(path);
      return true;
    });
  });
  return {
    shell: `echo $$ >${processes} && exec "$@"`,
    kills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(kills, 'utf8'))?.[1] ?? 0),
  };
}
