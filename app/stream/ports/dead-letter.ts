import pLimit from 'p-limit';
import type { DeadLetterReason } from '../../../contract/dead-letter-reasons.ts';
import { partitionKey, type StreamRecord, type TopicPartition } from '../../records/record.ts';
import type { WriteRequest } from './record-sink.ts';
import { FatalError } from './stream-errors.ts';

/** A record that cannot be stored, and why. */
export interface DeadLetter extends TopicPartition {
  readonly groupId: string;
  readonly record: StreamRecord;
  readonly reason: DeadLetterReason;
  /** The refusal in words; it never quotes the record. */
  readonly error: string;
  /** The user's own table that cannot have the record, with its schema. Left out: `records`, or all of its tables. */
  readonly target?: string;
  /** The column of it that is at fault, several with a comma between them. Left out: no column, or it is not known. */
  readonly targetColumn?: string;
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

/** The share of dead letters is taken of the newest records; where they are fewer, the missing ones count as good. */
export const WINDOW_RECORDS = 1_000;

const percent = (ratio: number): string => `${Number((ratio * 100).toFixed(2))} %`;

/** A record that becomes a dead letter, as far as it matters how many there are. */
interface Counted extends Pick<DeadLetter, 'record' | 'reason' | 'error'> {
  /** Its place among the records of the request. */
  readonly place: number;
}

/** The letters among the newest records of a topic. */
class TopicLetters {
  /** Letters that are accepted among the newest records. */
  readonly #most: number;
  /** Transactions with letters commit one after the other, so each is counted before the next. */
  readonly turns = pLimit(1);
  /** What was written before this process, while it is read and once it is. */
  recalled: Promise<void> | null = null;
  /** How many records were before each letter, ascending; those that are no longer among the newest are left out. */
  #letters: readonly number[] = [];
  #records = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether one of these letters has more than are accepted in the records that end with it. */
  areTooMany(places: readonly number[]): boolean {
    const all = this.#withLetters(places);
    const before = (nth: number): number => all[nth - this.#most] ?? Number.NEGATIVE_INFINITY;
    return all.some((place, nth) => nth >= this.#letters.length && place - before(nth) < WINDOW_RECORDS);
  }

  count(records: number, places: readonly number[]): void {
    const letters = this.#withLetters(places);
    this.#records += records;
    this.#letters = letters.filter((place) => place >= this.#records - WINDOW_RECORDS);
  }

  #withLetters(places: readonly number[]): readonly number[] {
    return [...this.#letters, ...places.map((place) => this.#records + place)];
  }
}

/**
 * Keeps a wrong deployment from turning a topic into dead letters: the setting `deadLetters.maxRatio`.
 *
 * It counts what this process commits of each topic, over all its partitions, and before the topic's first letter what
 * the tables hold: a restart does not begin anew. The letters of one topic never stop another one.
 */
export class DeadLetterLimit {
  readonly #maxRatio: number;
  readonly #most: number;
  /** Topics that have had a letter. What others have written does not matter before they have one. */
  readonly #topics = new Map<string, TopicLetters>();

  /** @param maxRatio share of dead letters that is still accepted, 0 to 1. @default no limit */
  constructor(maxRatio = 1) {
    this.#maxRatio = maxRatio;
    this.#most = Math.floor(Number((maxRatio * WINDOW_RECORDS).toFixed(3)));
  }

  /** Every record may be a dead letter: nothing has to be counted. */
  get isWithout(): boolean {
    return this.#maxRatio >= 1;
  }

  /**
   * Begins with what was written of the topic before this process, once.
   *
   * @param newest answers which of the topic's newest records are dead letters, the oldest first. When it rejects, the
   * next call asks again.
   */
  async recall(topic: string, newest: () => Promise<readonly boolean[]>): Promise<void> {
    if (this.isWithout) {
      return;
    }
    const letters = this.#of(topic);
    letters.recalled ??= newest().then((isLetter) => {
      letters.count(
        isLetter.length,
        isLetter.flatMap((is, place) => (is ? place : [])),
      );
    });
    await letters.recalled.catch((error: unknown) => {
      letters.recalled = null;
      throw error;
    });
  }

  /**
   * Commits a transaction that has dead letters, when no other one of the topic does, and counts it.
   *
   * @throws FatalError `TOO_MANY_DEAD_LETTERS` when with it the share would exceed the limit; `commit` was not called
   */
  committing(request: WriteRequest, letters: readonly Counted[], commit: () => Promise<void>): Promise<void> {
    if (this.isWithout) {
      return commit();
    }
    const ofTopic = this.#of(request.topic);
    return ofTopic.turns(async () => {
      const places = letters.map(({ place }) => place).sort((one, other) => one - other);
      if (ofTopic.areTooMany(places)) {
        throw this.#exceeded(request, letters);
      }
      await commit();
      ofTopic.count(request.records.length, places);
    });
  }

  /** Counts records of a topic that have become rows. */
  written({ topic, records }: WriteRequest): void {
    this.#topics.get(topic)?.count(records.length, []);
  }

  #of(topic: string): TopicLetters {
    const letters = this.#topics.get(topic) ?? new TopicLetters(this.#most);
    this.#topics.set(topic, letters);
    return letters;
  }

  #exceeded(request: WriteRequest, letters: readonly Counted[]): FatalError {
    const place = `${partitionKey(request)} from offset ${request.expectedOffset}`;
    const counts = [...countReasons(letters)].map(([reason, count]) => `${count} ${reason}`).join(', ');
    const [first] = letters;
    return new FatalError(
      'TOO_MANY_DEAD_LETTERS',
      `more than ${this.#most} of ${WINDOW_RECORDS} records in a row of a topic would be dead letters, which is what ` +
        `deadLetters.maxRatio allows (${percent(this.#maxRatio)}). Nothing was written of ${place}, whose ` +
        `${request.records.length} records have ${counts}; the first is offset ${first?.record.offset}: ${first?.error}. ` +
        'They stay ahead of the stored offset. Look at these records, put right what produces or refuses them and start ' +
        'again; or raise deadLetters.maxRatio, to 1 for no limit, to have them as dead letters',
    );
  }
}
