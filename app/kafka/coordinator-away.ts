import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

interface Cluster {
  findGroupCoordinatorMetadata(options: unknown): Promise<unknown>;
}

interface KafkajsErrors {
  readonly KafkaJSError: new (message: string) => Error;
  readonly KafkaJSGroupCoordinatorNotFound: new (message: string) => Error;
}

/**
 * Tells that no broker knew the group's coordinator with an error that is tried again. As shipped it counts as one that
 * never passes, although it says only that the brokers are starting, or were cut off in the middle of the question.
 */
export function coordinatorComesBack(prototype: Cluster): void {
  const { KafkaJSError, KafkaJSGroupCoordinatorNotFound } = require('kafkajs/src/errors') as KafkajsErrors;
  const find = prototype.findGroupCoordinatorMetadata;
  prototype.findGroupCoordinatorMetadata = async function findOrTryAgain(this: Cluster, options) {
    try {
      return await find.call(this, options);
    } catch (error) {
      throw error instanceof KafkaJSGroupCoordinatorNotFound ? new KafkaJSError(error.message) : error;
    }
  };
}
