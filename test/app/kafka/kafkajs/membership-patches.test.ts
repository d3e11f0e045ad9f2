import { expect, test } from '@jest/globals';
import { internals } from '../../../../app/kafka/kafkajs/internals.ts';
import { commitOnce } from '../../../../app/kafka/kafkajs/membership-patches.ts';

class Shipped extends internals.Runner {}
class Patched extends internals.Runner {}
commitOnce(Patched.prototype);

const logger = { debug: () => undefined, namespace: () => logger };

/** kafkajs's own runner, of a group that rejects the first commit with ILLEGAL_GENERATION and takes the second. */
function aRunner(Class: typeof Shipped) {
  const commits: unknown[] = [];
  const consumerGroup = {
    commitOffsets: async (offsets: unknown) => {
      commits.push(offsets);
      if (commits.length === 1) throw Object.assign(new Error('illegal generation'), { retriable: true });
    },
  };
  const retry = { initialRetryTime: 1, maxRetryTime: 1, retries: 5 };
  const runner = new Class({ logger, consumerGroup, retry, concurrency: 1, onCrash: () => undefined });
  return { runner: Object.assign(runner, { running: true }), commits };
}

test('as shipped, a commit that failed is tried again in the next generation, which is why it is patched', async () => {
  const { runner, commits } = aRunner(Shipped);
  await runner.commitOffsets('offsets');
  expect(commits).toEqual(['offsets', 'offsets']);
});

test('a commit that failed is not tried again, and whoever asked for it hears so', async () => {
  const { runner, commits } = aRunner(Patched);
  await expect(runner.commitOffsets('offsets')).rejects.toThrow('illegal generation');
  expect(commits).toEqual(['offsets']);
});

test('as shipped, a commit of a consumer that stops succeeds without being sent, which is why it is patched', async () => {
  const { runner, commits } = aRunner(Shipped);
  runner.running = false;
  await runner.commitOffsets('offsets');
  expect(commits).toEqual([]);
});

test('a commit of a consumer that stops is refused', async () => {
  const { runner, commits } = aRunner(Patched);
  runner.running = false;
  await expect(runner.commitOffsets('offsets')).rejects.toThrow('not committed');
  expect(commits).toEqual([]);
});
