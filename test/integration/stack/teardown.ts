import { runningStack } from './running-stack.ts';

/** Stops what set-up started. */
export default async function teardown(): Promise<void> {
  await runningStack()?.stop();
}
