import { startStack } from '../../../dev/stack.ts';
import { endRunOnSignal } from './end-run-on-signal.ts';
import { keepForTeardown } from './running-stack.ts';
import { SHARED_STACK_ENV } from './shared-stack.ts';

/** Starts the Kafka and the PostgreSQL that all integration tests share. */
export default async function setup(): Promise<void> {
  const stack = await startStack({ onProgress: (part, message) => console.error(`\n${part}: ${message}`) });
  endRunOnSignal(stack.run);
  keepForTeardown(stack);
  process.env[SHARED_STACK_ENV.broker] = stack.kafka?.broker;
  process.env[SHARED_STACK_ENV.databaseUrl] = stack.postgres?.urlWithPassword;
}
