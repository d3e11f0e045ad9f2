import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { ACTUATOR_BASE_PATH, ACTUATOR_ENDPOINT } from '../../contract/actuator.ts';
import { ExplainedError } from '../run/explained-error.ts';
import { freePort } from '../run/free-port.ts';
import type { Stack } from '../stack/local-stack.ts';
import { ensureTopic } from '../stack/topic.ts';
import { cpuSeconds, memoryBytes, writeBenchSettings } from './bench-consumer.ts';

const REPOSITORY = resolve(import.meta.dirname, '..', '..');
const TOPIC = 'start';
const HEALTH_PATH = `${ACTUATOR_BASE_PATH}/${ACTUATOR_ENDPOINT.health}`;
/** Each request takes processor time of the start that is measured. */
const POLL_MS = 10;
/** The heap is still as large as the start needed it. */
const EARLY_MS = 10_000;
/** From the first answer until V8 has made the heap small again: it does so some half a minute after the last work. */
const REST_MS = 60_000;
/** So many starts, the last ones, are watched until they rest. */
const RESTING = 3;
const UP_LIMIT_MS = 30_000;

/** One start of the bundle that is in the image. */
export interface Start {
  /** From the start of the process to the first health answer that says UP. */
  readonly upMilliseconds: number;
  /** Processor time of the process until then. */
  readonly cpuMilliseconds: number;
  /** Resident memory 10 s later. */
  readonly earlyBytes: number;
  /** Resident memory 60 s later; left out where the process was ended before. */
  readonly restBytes?: number;
}

/** Makes the image's application layer, into a folder of the run. */
async function makeLayer({ run }: Stack): Promise<string> {
  const folder = join(run.path, 'layer');
  const program = join(REPOSITORY, 'dev', 'image', 'layer', 'application-layer.ts');
  const { code, output } = await run.complete({
    program: process.execPath,
    args: ['--import', 'tsx', program, folder],
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'] },
  });
  if (code !== 0) {
    throw new ExplainedError(['The bundle was not made:', ...output].join('\n'));
  }
  return folder;
}

async function untilUp(url: string, since: number): Promise<number> {
  while (performance.now() - since < UP_LIMIT_MS) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok) {
      return performance.now() - since;
    }
    await delay(POLL_MS);
  }
  throw new ExplainedError(`${url} was not UP in ${UP_LIMIT_MS} ms`);
}

async function startOnce(
  stack: Stack,
  { layer, configFile, isRestAwaited }: { layer: string; configFile: string; isRestAwaited: boolean },
): Promise<Start> {
  const port = await freePort();
  const since = performance.now();
  const consumer = await stack.run.spawn({
    program: process.execPath,
    args: ['build/app/main.js'],
    cwd: layer,
    env: { CONFIG_FILE: configFile, SERVER_PORT: String(port), NODE_ENV: 'production' },
  });
  const upMilliseconds = await untilUp(`http://127.0.0.1:${port}${HEALTH_PATH}`, since);
  const cpuMilliseconds = cpuSeconds(consumer.pid) * 1_000;
  await delay(EARLY_MS);
  const start = { upMilliseconds, cpuMilliseconds, earlyBytes: memoryBytes(consumer.pid, 'VmRSS') };
  await delay(isRestAwaited ? REST_MS - EARLY_MS : 0);
  const restBytes = memoryBytes(consumer.pid, 'VmRSS');
  consumer.kill('SIGTERM');
  await consumer.exited;
  return { ...start, ...(isRestAwaited && { restBytes }) };
}

/** Starts the consumer several times, one after the other; Kafka and PostgreSQL run, and its tables exist. */
export async function measureStarts(stack: Stack, times: number): Promise<readonly Start[]> {
  const kafka = new Kafka({ clientId: 'bench', brokers: [stack.kafka?.broker ?? ''], logLevel: logLevel.ERROR });
  await ensureTopic(kafka, TOPIC, 6);
  const layer = await makeLayer(stack);
  const configFile = await writeBenchSettings(stack, { topics: [TOPIC] });
  const starts: Start[] = [];
  // The first start makes the tables and fills the system's file cache.
  for (let count = 0; count <= times; count += 1) {
    starts.push(await startOnce(stack, { layer, configFile, isRestAwaited: count > times - RESTING }));
  }
  return starts.slice(1);
}
