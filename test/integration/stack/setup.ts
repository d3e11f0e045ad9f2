import { compileConsumer } from '../../../dev/run/consumer-process.ts';
import { RunFolder } from '../../../dev/run/run-folder.ts';
import { archiveKafkaClasses } from '../../../dev/stack/class-archive.ts';
import { prepareCluster } from '../../../dev/stack/local-postgres.ts';
import { startStack } from '../../../dev/stack/local-stack.ts';
import { endRunOnSignal } from './end-run-on-signal.ts';
import { keepForTeardown } from './running-stack.ts';
import { SHARED_STACK_ENV } from './shared-stack.ts';

/** Compiles the consumer, prepares what servers start from, and starts the Kafka and the PostgreSQL that all suites share. */
export default async function setup(): Promise<void> {
  const run = await RunFolder.create();
  endRunOnSignal(run);
  await compileConsumer();
  const onProgress = (part: string, message: string): void => console.error(`\n${part}: ${message}`);
  // Dozens of brokers and of servers of PostgreSQL start in the run.
  await archiveKafkaClasses(run, (message) => onProgress('kafka', message));
  const cluster = await prepareCluster(run);
  const stack = await startStack({
    run,
    // Test files that run beside each other hold more than the usual 100.
    postgres: { settings: { max_connections: '300' }, copyOf: cluster },
    onProgress,
  });
  keepForTeardown(stack);
  process.env[SHARED_STACK_ENV.runFolder] = run.path;
  process.env[SHARED_STACK_ENV.broker] = stack.kafka?.broker;
  process.env[SHARED_STACK_ENV.databaseUrl] = stack.postgres?.urlWithPassword;
  process.env[SHARED_STACK_ENV.newCluster] = cluster.data;
}
