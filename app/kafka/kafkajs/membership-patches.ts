import type { Runner } from './classes.ts';

/**
 * Commits offsets once, and rejects when the commit failed or could not be sent. As shipped a failed commit is retried
 * for seconds: after a rebalance under the new generation, for partitions whose new owners are further on. And a commit
 * of a consumer that does not run resolves without a request.
 */
export function commitOnce(prototype: Runner): void {
  prototype.commitOffsets = async function commitOrReject(this: Runner, offsets) {
    if (!this.running) {
      throw new Error('the offsets were not committed: the consumer is not in its group');
    }
    await this.consumerGroup.commitOffsets(offsets);
  };
}
