import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { coordinatorComesBack } from '../../../app/kafka/coordinator-away.ts';

const { KafkaJSGroupCoordinatorNotFound } = createRequire(import.meta.url)('kafkajs/src/errors') as Record<
  string,
  new (
    message: string,
  ) => Error
>;

function aCluster(answer: () => Promise<unknown>) {
  class Cluster {
    findGroupCoordinatorMetadata(_options: unknown): Promise<unknown> {
      return answer();
    }
  }
  coordinatorComesBack(Cluster.prototype);
  return new Cluster();
}

const notFound = () => {
  if (KafkaJSGroupCoordinatorNotFound === undefined) {
    throw new Error('kafkajs has no such error any more');
  }
  return new KafkaJSGroupCoordinatorNotFound('Failed to find group coordinator');
};

test('as shipped, a coordinator that was not found is no reason to try again, which is why it is patched', () => {
  expect(notFound()).toMatchObject({ retriable: false });
});

test('a coordinator that was not found is one', async () => {
  const asked = aCluster(() => Promise.reject(notFound())).findGroupCoordinatorMetadata({});
  await expect(asked).rejects.toMatchObject({ retriable: true, message: 'Failed to find group coordinator' });
});

test('every other error, and an answer, stay what they are', async () => {
  const other = new TypeError('a mistake');
  await expect(aCluster(() => Promise.reject(other)).findGroupCoordinatorMetadata({})).rejects.toBe(other);
  expect(await aCluster(async () => 'coordinator').findGroupCoordinatorMetadata({})).toBe('coordinator');
});
