import { compileConsumer } from '../../../dev/run/consumer-process.ts';
import { RunFolder } from '../../../dev/run/run-folder.ts';
import { startStack } from '../../../dev/stack/local-stack.ts';
import { endRunOnSignal } from './end-run-on-signal.ts';
import { keepForTeardown } from './running-stack.ts';
import { SHARED_STACK_ENV } from './shared-stack.ts';

/** Compiles the consumer, and starts the Kafka and the PostgreSQL that all integration tests share. */
export default async function setup(): Promise<void> {
  const run = await RunFolder.create();
  endRunOnSignal(run);
  await compileConsumer();
  const stack = await startStack({
    run,
    // Test files that run beside each other hold more than the usual 100.
    postgresSettings: { max_connections: '300' },
    onProgress: (part, message) => console.error(`\n${part}: ${message}`),
  });
  keepForTeardown(stack);
  process.env[SHARED_STACK_ENV.runFolder] = run.path;
  process.env[SHARED_STACK_ENV.broker] = stack.kafka?.broker;
  process.env[SHARED_STACK_ENV.databaseUrl] = stack.postgres?.urlWithPassword;
}
