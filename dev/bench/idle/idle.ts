import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { LogLines } from '../../run/log-lines.ts';
import type { Stack } from '../../stack/local-stack.ts';
import { ensureTopic } from '../../stack/topic.ts';
import { shareOfCore, startBenchConsumer, WARM_UP_SECONDS } from '../bench-consumer.ts';

const TOPIC = 'idle';

/** Shares of one core that idle processes use. */
export interface IdleResult {
  readonly consumer: number;
  readonly patchedClient: number;
  readonly plainClient: number;
}

async function idleClient(stack: Stack, way: 'patched' | 'plain'): Promise<number> {
  const logs = new LogLines();
  const { pid } = await stack.run.spawn({
    program: process.execPath,
    args: ['--import', 'tsx', join(import.meta.dirname, 'idle-client.ts'), stack.kafka?.broker ?? '', TOPIC, way],
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'] },
    onLine: (line) => logs.add(line),
  });
  await logs.waitFor(/^idle$/);
  return pid;
}

/**
 * Processor time of idle processes: the whole consumer with its health checks and lag polls, and a bare kafkajs
 * consumer with and without our patches; all at once, over the same seconds.
 *
 * @param env environment variables of the consumer
 */
export async function measureIdle(
  stack: Stack,
  seconds: number,
  env: Readonly<Record<string, string>>,
): Promise<IdleResult> {
  const kafka = new Kafka({ clientId: 'bench', brokers: [stack.kafka?.broker ?? ''], logLevel: logLevel.ERROR });
  await ensureTopic(kafka, TOPIC, 6);
  const consumer = await startBenchConsumer(stack, { topics: [TOPIC] }, env);
  await consumer.waitForHealth();
  const pids = [consumer.pid, await idleClient(stack, 'patched'), await idleClient(stack, 'plain')];
  await Promise.all(pids.map((pid) => shareOfCore(pid, WARM_UP_SECONDS)));
  const [whole = 0, patched = 0, plain = 0] = await Promise.all(pids.map((pid) => shareOfCore(pid, seconds)));
  consumer.kill('SIGTERM');
  await consumer.exited;
  return { consumer: whole, patchedClient: patched, plainClient: plain };
}
