import { errorTypeOf } from '../authorization.ts';
import type { Cluster } from './classes.ts';
import { internals } from './internals.ts';

/**
 * Makes the error that no broker knows the group's coordinator a retriable one. As shipped it is not, although it says
 * only that the brokers are starting, or that the connection broke before the answer. It is also what is left of an ACL
 * that forbids the group, so one broker is asked again, for its own answer.
 */
export function retryCoordinatorLookup(prototype: Cluster): void {
  const { KafkaJSError, KafkaJSGroupCoordinatorNotFound } = internals.errors;
  const find = prototype.findGroupCoordinatorMetadata;
  prototype.findGroupCoordinatorMetadata = async function findOrTryAgain(this: Cluster, options) {
    try {
      return await find.call(this, options);
    } catch (error) {
      if (!(error instanceof KafkaJSGroupCoordinatorNotFound)) {
        throw error;
      }
      const ask = async () => (await this.brokerPool.findConnectedBroker()).findGroupCoordinator(options);
      return ask().catch((answer: unknown) => {
        throw errorTypeOf(answer) === 'GROUP_AUTHORIZATION_FAILED' ? answer : new KafkaJSError(error.message);
      });
    }
  };
}
