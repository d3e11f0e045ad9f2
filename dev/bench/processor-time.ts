import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

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
