import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { type ConsumerProcess, startConsumerProcess } from '../run/consumer-process.ts';
import { freePort } from '../run/free-port.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { terminate } from '../stack/local-server.ts';
import type { RunNames } from './names.ts';
import type { StartOptions } from './options.ts';
import type { Parts } from './servers.ts';

const CONFIG_FILE = join(import.meta.dirname, '..', 'application.yml');
const USUAL_PORT = 8080;
/** Above the consumer's own `shutdown.timeout`, so that it is never killed while it drains. */
const DRAIN_TIMEOUT_MS = 30_000;
/** Warnings are no news here: poison is produced on purpose. */
const WORTH_SHOWING = ['error', 'fatal'];

/**
 * Starts the consumer with dev/application.yml as a separate process and waits until its health is UP.
 *
 * @throws ExplainedError with the end of its log when it does not get there.
 */
export async function provideConsumer(
  run: RunFolder,
  options: StartOptions,
  parts: Parts,
  names: RunNames,
  screen: Screen,
): Promise<ConsumerProcess> {
  screen.line('consumer    starting ...');
  const consumer = await startConsumerProcess(run, {
    configFile: CONFIG_FILE,
    port: options.port ?? (await freePort(USUAL_PORT)),
    env: {
      KAFKA_BROKERS: parts.brokers,
      KAFKA_TOPICS: names.topic,
      KAFKA_GROUP_ID: names.group,
      DATABASE_URL: parts.databaseUrl,
      DATABASE_SCHEMA: names.schema,
    },
  });
  run.beforeClose(async () => {
    await terminate(consumer, 'SIGTERM', DRAIN_TIMEOUT_MS);
  });
  const logFile = join(run.path, 'consumer.log');
  const log = createWriteStream(logFile, { mode: 0o600 });
  consumer.logs.follow((line) => {
    log.write(`${line}\n`);
    if (options.verbose || isWorthShowing(line)) {
      screen.line(`consumer    ${line}`);
    }
  });
  await consumer.waitForHealth();
  screen.line(`consumer    ready, process ${consumer.pid}, log ${logFile}`);
  return consumer;
}

/** Whatever is no JSON did not come from the logger: that is worth seeing, too. */
function isWorthShowing(line: string): boolean {
  try {
    const { level } = JSON.parse(line) as { level?: unknown };
    return WORTH_SHOWING.includes(String(level));
  } catch {
    return true;
  }
}
