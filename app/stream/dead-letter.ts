import type { DeadLetterReason } from '../../contract/dead-letter-reasons.ts';
import { partitionKey, type StreamRecord, type TopicPartition } from './record.ts';
import type { WriteRequest } from './record-sink.ts';
import { FatalError } from './stream-errors.ts';

/** A record that cannot be stored, and why. */
export interface DeadLetter extends TopicPartition {
  readonly groupId: string;
  readonly record: StreamRecord;
  readonly reason: DeadLetterReason;
  /** The refusal in words; it never quotes the record. */
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
   * Resolves when the brokers have stored all of them. It is called before the transaction commits that moves the
   * offset over them, so a crash in between brings a letter a second time, but none is lost.
   *
   * @throws OutageError when the brokers did not take them for now: some may be stored
   * @throws FatalError `DEAD_LETTER_TOPIC_REFUSED` when they never will
   */
  send(letters: readonly DeadLetter[]): Promise<void>;
}

/** The newest transactions are looked at until they hold this many records together. */
const WINDOW_RECORDS = 1_000;

/** Fewer records than this count as this many, the missing ones as good: one bad record out of one proves nothing. */
const LEAST_RECORDS = 100;

interface Counted {
  readonly records: number;
  readonly deadLetters: number;
}

const percent = (ratio: number): string => `${Number((ratio * 100).toFixed(2))} %`;

/**
 * Keeps a wrong deployment from turning a topic into dead letters: the setting `deadLetters.maxRatio`.
 *
 * It counts what this process has committed, over all its partitions. Transactions under way at the same time do not
 * see each other.
 */
export class DeadLetterLimit {
  readonly #maxRatio: number;
  #window: readonly Counted[] = [];

  /** @param maxRatio share of dead letters that is still accepted, 0 to 1. @default no limit */
  constructor(maxRatio = 1) {
    this.#maxRatio = maxRatio;
  }

  /** Whether the share would be within the limit with a transaction that has these dead letters. */
  accepts(request: WriteRequest, reasons: ReadonlyMap<DeadLetterReason, number>): boolean {
    return this.#isWithout || this.#isWithin(total(this.#windowWith(request, reasons)));
  }

  /**
   * Asks before a transaction commits whether it may.
   *
   * @throws FatalError `TOO_MANY_DEAD_LETTERS` when with it the share would exceed the limit
   */
  check(request: WriteRequest, reasons: ReadonlyMap<DeadLetterReason, number>): void {
    if (!this.accepts(request, reasons)) {
      throw this.#exceeded(request, reasons, total(this.#windowWith(request, reasons)));
    }
  }

  /** Counts a transaction that has committed. */
  committed(request: WriteRequest, reasons: ReadonlyMap<DeadLetterReason, number>): void {
    if (!this.#isWithout && request.records.length > 0) {
      this.#window = this.#windowWith(request, reasons);
    }
  }

  /** Every record may be a dead letter: nothing has to be counted. */
  get #isWithout(): boolean {
    return this.#maxRatio >= 1;
  }

  #isWithin({ records, deadLetters }: Counted): boolean {
    return deadLetters <= this.#maxRatio * Math.max(records, LEAST_RECORDS);
  }

  #windowWith({ records }: WriteRequest, reasons: ReadonlyMap<DeadLetterReason, number>): readonly Counted[] {
    const deadLetters = [...reasons.values()].reduce((sum, count) => sum + count, 0);
    const window = [...this.#window, { records: records.length, deadLetters }];
    let held = total(window).records;
    const first = window.findIndex((counted) => {
      held -= counted.records;
      return held < WINDOW_RECORDS;
    });
    return window.slice(first);
  }

  #exceeded(
    request: WriteRequest,
    reasons: ReadonlyMap<DeadLetterReason, number>,
    { records, deadLetters }: Counted,
  ): FatalError {
    const place = `${partitionKey(request)} from offset ${request.expectedOffset}`;
    const counts = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ');
    return new FatalError(
      'TOO_MANY_DEAD_LETTERS',
      `${deadLetters} of the last ${records} records would be dead letters, more than deadLetters.maxRatio allows ` +
        `(${percent(this.#maxRatio)} of them, or of ${LEAST_RECORDS} where they are fewer). Nothing was written of ${place}, ` +
        `which has ${counts}. Look at these records, put right what produces or refuses them and start again; or raise ` +
        'deadLetters.maxRatio, or leave it out, to have them as dead letters',
    );
  }
}

const total = (window: readonly Counted[]): Counted => ({
  records: window.reduce((sum, { records }) => sum + records, 0),
  deadLetters: window.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
});
