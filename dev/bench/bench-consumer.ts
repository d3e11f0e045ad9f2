import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { type ConsumerProcess, startConsumerProcess } from '../run/consumer-process.ts';
import type { Stack } from '../stack/local-stack.ts';

/** Where the consumer of a benchmark writes. */
export const BENCH_SCHEMA = 'stream_consumer';

/** Starts a consumer of the topic with the default settings, but for those in the environment given. */
export async function startBenchConsumer(
  { run, kafka, postgres }: Stack,
  topic: string,
  env: Readonly<Record<string, string>>,
): Promise<ConsumerProcess> {
  const configFile = join(run.path, 'bench.yml');
  const settings = {
    kafka: { brokers: [kafka?.broker], topics: [topic], groupId: 'bench' },
    database: { url: postgres?.urlWithPassword, schema: BENCH_SCHEMA },
  };
  await writeFile(configFile, stringify(settings), { mode: 0o600 });
  return startConsumerProcess(run, { configFile, env, program: 'compiled' });
}

const CLOCK_TICKS_PER_SECOND = 100;

/** Processor time that a process has used so far, in seconds (Linux: /proc/PID/stat, fields 14 and 15). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

/** The share of one core that a process uses over some seconds. */
export async function shareOfCore(pid: number, seconds: number): Promise<number> {
  const before = cpuSeconds(pid);
  await delay(seconds * 1_000);
  return (cpuSeconds(pid) - before) / seconds;
}
