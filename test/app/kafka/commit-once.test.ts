import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { commitOnce } from '../../../app/kafka/commit-once.ts';

const require = createRequire(import.meta.url);

interface Runner {
  running: boolean;
  commitOffsets(offsets: unknown): Promise<void>;
}

const logger = { debug: () => undefined, namespace: () => logger };

/** kafkajs's own runner, of a group whose generation is over at the first commit and which has a new one at the second. */
function aRunner(isPatched: boolean) {
  const Shipped = require('kafkajs/src/consumer/runner') as new (options: unknown) => Runner;
  class Patched extends Shipped {}
  if (isPatched) {
    commitOnce(Patched.prototype as unknown as Parameters<typeof commitOnce>[0]);
  }
  const commits: unknown[] = [];
  const consumerGroup = {
    commitOffsets: async (offsets: unknown) => {
      commits.push(offsets);
      if (commits.length === 1) throw Object.assign(new Error('illegal generation'), { retriable: true });
    },
  };
  const retry = { initialRetryTime: 1, maxRetryTime: 1, retries: 5 };
  const runner = new Patched({ logger, consumerGroup, retry, concurrency: 1, onCrash: () => undefined });
  runner.running = true;
  return { runner, commits };
}

test('as shipped, a commit that failed is tried again in the next generation, which is why it is patched', async () => {
  const { runner, commits } = aRunner(false);
  await runner.commitOffsets('offsets');
  expect(commits).toEqual(['offsets', 'offsets']);
});

test('a commit that failed is not tried again, and whoever asked for it hears so', async () => {
  const { runner, commits } = aRunner(true);
  await expect(runner.commitOffsets('offsets')).rejects.toThrow('illegal generation');
  expect(commits).toEqual(['offsets']);
});

test('as shipped, a commit of a consumer that stops succeeds without being sent, which is why it is patched', async () => {
  const { runner, commits } = aRunner(false);
  runner.running = false;
  await runner.commitOffsets('offsets');
  expect(commits).toEqual([]);
});

test('a commit of a consumer that stops is refused', async () => {
  const { runner, commits } = aRunner(true);
  runner.running = false;
  await expect(runner.commitOffsets('offsets')).rejects.toThrow('not committed');
  expect(commits).toEqual([]);
});
