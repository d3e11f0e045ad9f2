import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
