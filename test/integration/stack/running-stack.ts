import type { Stack } from '../../../dev/stack/local-stack.ts';

const KEY = Symbol.for('stream-consumer.test.stack');
const shelf = globalThis as { [KEY]?: Stack };

/** Jest loads set-up and teardown as separate modules: the one leaves the stack here for the other. */
export function keepForTeardown(stack: Stack): void {
  shelf[KEY] = stack;
}

/** The stack that set-up started; undefined when it failed. */
export const runningStack = (): Stack | undefined => shelf[KEY];
