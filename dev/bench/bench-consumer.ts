import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { type ConsumerProcess, startConsumerProcess } from '../run/consumer-process.ts';
import type { Stack } from '../stack/local-stack.ts';

/** What a benchmark's consumer reads, and where it writes to. */
export interface BenchTarget {
  /** PostgreSQL schema. @default `stream_consumer` */
  readonly schema?: string;
  /** Topics that go to `records`. */
  readonly topics: readonly string[];
  /** The setting `tables`. @default none */
  readonly tables?: readonly { readonly topic: string }[];
  /** URL of the registry by whose schemas the topics of the tables are written. @default they are JSON */
  readonly schemaRegistry?: string | undefined;
}

/** Schema of a consumer for which none is named. */
export const BENCH_SCHEMA = 'stream_consumer';

/** Writes an application.yml for a consumer, all else at its default. @returns its path */
export async function writeBenchSettings(
  { run, kafka, postgres }: Stack,
  { schema = BENCH_SCHEMA, topics, tables = [], schemaRegistry }: BenchTarget,
): Promise<string> {
  const configFile = join(run.path, 'bench.yml');
  const settings = {
    kafka: { brokers: [kafka?.broker], topics, groupId: `bench-${schema}` },
    database: { url: postgres?.urlWithPassword, schema },
    tables,
    ...(schemaRegistry !== undefined && {
      formats: Object.fromEntries(tables.map(({ topic }) => [topic, 'registry'])),
      schemaRegistry: { url: schemaRegistry },
    }),
  };
  await writeFile(configFile, stringify(settings), { mode: 0o600 });
  return configFile;
}

/** Starts a consumer with the default settings; environment variables override them. */
export async function startBenchConsumer(
  stack: Stack,
  target: BenchTarget,
  env: Readonly<Record<string, string>>,
): Promise<ConsumerProcess> {
  return startConsumerProcess(stack.run, {
    configFile: await writeBenchSettings(stack, target),
    env,
    program: 'compiled',
  });
}

/** Until code is compiled and caches are filled. */
export const WARM_UP_SECONDS = 10;

const CLOCK_TICKS_PER_SECOND = 100;

/**
 * Fields of /proc/PID/stat behind the name (Linux, proc_pid_stat(5)): user and system time, of itself or of its ended
 * children.
 */
const OWN = [11, 12] as const;
const ENDED_CHILDREN = [13, 14] as const;

function ticks(pid: number | string, fields: readonly [number, number]): number {
  const all = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return Number(all[fields[0]]) + Number(all[fields[1]]);
}

/** Processor time that a process has used so far, in seconds. */
export const cpuSeconds = (pid: number): number => ticks(pid, OWN) / CLOCK_TICKS_PER_SECOND;

/**
 * Processor time in seconds of the children of a process, those that have ended included. One that ends between two
 * looks at it is looked for among those.
 */
export function childrenCpuSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  try {
    const ofLiving = children.reduce((sum, child) => sum + ticks(child, OWN), 0);
    return (ofLiving + ticks(pid, ENDED_CHILDREN)) / CLOCK_TICKS_PER_SECOND;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(`/proc/${pid}`)) {
      throw error;
    }
    return childrenCpuSeconds(pid);
  }
}

/** Memory of a process in bytes (Linux: /proc/PID/status): resident now, or at its peak. */
export function memoryBytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;
}

/** The share of one core that a process uses over some seconds. */
export async function shareOfCore(pid: number, seconds: number): Promise<number> {
  const before = cpuSeconds(pid);
  await delay(seconds * 1_000);
  return (cpuSeconds(pid) - before) / seconds;
}
