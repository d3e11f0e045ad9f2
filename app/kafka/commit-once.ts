/** The part of kafkajs's runner that commits offsets. */
interface CommittingRunner {
  readonly running: boolean;
  readonly consumerGroup: { commitOffsets(offsets: unknown): Promise<void> };
  commitOffsets(offsets: unknown): Promise<void>;
}

/**
 * Commits offsets once, and rejects when that failed or could not be tried. As shipped a failed commit is tried again for
 * seconds: after a rebalance in the name of the new generation, for partitions that others own and have gone on with. And
 * one of a consumer that does not run succeeds without a word and without doing anything.
 */
export function commitOnce(prototype: CommittingRunner): void {
  prototype.commitOffsets = async function commitOrReject(this: CommittingRunner, offsets) {
    if (!this.running) {
      throw new Error('the offsets were not committed: the consumer is not in its group');
    }
    await this.consumerGroup.commitOffsets(offsets);
  };
}
