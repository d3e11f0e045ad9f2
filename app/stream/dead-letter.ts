import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import type { StreamRecord, TopicPartition } from './record.ts';

/** A record that cannot be stored, and why. */
export interface DeadLetter extends TopicPartition {
  readonly groupId: string;
  readonly record: StreamRecord;
  readonly reason: DeadLetterReason;
  /** What refused it, in words; it never quotes the record. */
  readonly error: string;
}

/** Dead letters by reason; reasons without any are left out. */
export function countReasons(letters: readonly Pick<DeadLetter, 'reason'>[]): Map<DeadLetterReason, number> {
  const counts = new Map<DeadLetterReason, number>();
  for (const { reason } of letters) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}

/** A topic that takes dead letters: the port behind which a Kafka producer lives. */
export interface DeadLetterTopic {
  /**
   * Resolves when the brokers have stored all of them. It is called before the transaction commits that moves the offset
   * over them, so a crash in between brings a letter a second time, but none is lost.
   *
   * @throws OutageError when the brokers did not take them for now: some may be stored
   * @throws FatalError `DEAD_LETTER_TOPIC_REFUSED` when they never will
   */
  send(letters: readonly DeadLetter[]): Promise<void>;
}
