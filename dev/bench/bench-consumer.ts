import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { type ConsumerProcess, startConsumerProcess } from '../run/consumer-process.ts';
import type { Stack } from '../stack/local-stack.ts';

/** PostgreSQL schema of a benchmark's consumer. */
export const BENCH_SCHEMA = 'stream_consumer';

/** Writes an application.yml for a consumer of the topic, all else at its default. @returns its path */
export async function writeBenchSettings({ run, kafka, postgres }: Stack, topic: string): Promise<string> {
  const configFile = join(run.path, 'bench.yml');
  const settings = {
    kafka: { brokers: [kafka?.broker], topics: [topic], groupId: 'bench' },
    database: { url: postgres?.urlWithPassword, schema: BENCH_SCHEMA },
  };
  await writeFile(configFile, stringify(settings), { mode: 0o600 });
  return configFile;
}

/** Starts a consumer of the topic with the default settings; environment variables override them. */
export async function startBenchConsumer(
  stack: Stack,
  topic: string,
  env: Readonly<Record<string, string>>,
): Promise<ConsumerProcess> {
  return startConsumerProcess(stack.run, {
    configFile: await writeBenchSettings(stack, topic),
    env,
    program: 'compiled',
  });
}

const CLOCK_TICKS_PER_SECOND = 100;

/** Processor time that a process has used so far, in seconds (Linux: /proc/PID/stat, fields 14 and 15). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
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
