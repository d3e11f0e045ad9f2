import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { ExplainedError } from '../../run/explained-error.ts';
import { LogLines } from '../../run/log-lines.ts';
import type { Stack } from '../../stack/local-stack.ts';
import { ensureTopic } from '../../stack/topic.ts';
import { BENCH_SCHEMA, shareOfCore, startBenchConsumer, WARM_UP_SECONDS } from '../bench-consumer.ts';
import { connectTo } from '../measured-program.ts';
import { type RecordDelays, recordDelays } from '../record-delays.ts';

const TOPIC = 'idle';

/** How many records come one by one, and what lies between two of them. */
const SINGLE_RECORDS = 200;
const REST_MS = 250;

/** Shares of one core that idle processes use. */
export interface IdleResult {
  readonly consumer: number;
  readonly patchedClient: number;
  readonly plainClient: number;
  /** Of records that come one by one. */
  readonly delays: RecordDelays;
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
  const delays = await delaysAtRest(stack, kafka);
  consumer.kill('SIGTERM');
  await consumer.exited;
  return { consumer: whole, patchedClient: patched, plainClient: plain, delays };
}

/** Produces records one by one, and waits until they are written. */
async function delaysAtRest({ postgres }: Stack, kafka: Kafka): Promise<RecordDelays> {
  const producer = kafka.producer();
  const client = await connectTo({ connectionString: postgres?.urlWithPassword });
  try {
    await producer.connect();
    const from = Date.now();
    for (let nth = 0; nth < SINGLE_RECORDS; nth += 1) {
      await producer.send({ topic: TOPIC, messages: [{ value: '{}', timestamp: String(Date.now()) }] });
      await delay(REST_MS);
    }
    const delays = await recordDelays(client, BENCH_SCHEMA, { from, to: Date.now() });
    if (delays === undefined) {
      throw new ExplainedError('The consumer has no table of records.');
    }
    return delays;
  } finally {
    await client.end();
    await producer.disconnect();
  }
}
