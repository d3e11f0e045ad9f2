import type { DeadLetter } from '../stream/dead-letter.ts';
import type { RecordHeader } from '../stream/record.ts';

/** A dead letter as a record of its topic. */
export interface DeadLetterMessage {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly RecordHeader[];
  /** The partition it came from. */
  readonly partition: number;
}

/** Brokers take 1 MiB at once unless they are told otherwise; half of it leaves room for what a record weighs beside itself. */
const MAX_REQUEST_BYTES = 524_288;

/** What the record format needs for a record and each of its headers, rounded up. */
const OVERHEAD_BYTES = 32;

const header = (key: string, value: string): RecordHeader => ({ key, value: Buffer.from(value, 'utf8') });

/**
 * Key, value and headers as they came; behind the record's own headers follow those that say where it came from and what
 * was wrong. The timestamp is one of them: the message's own is the time it was sent, by which the topic's retention counts.
 */
export function deadLetterMessage(letter: DeadLetter): DeadLetterMessage {
  const { groupId, topic, partition, record, reason, error } = letter;
  const origin = [
    header('dead-letter.topic', topic),
    header('dead-letter.partition', String(partition)),
    header('dead-letter.offset', String(record.offset)),
    header('dead-letter.timestamp', String(record.timestamp)),
    header('dead-letter.group', groupId),
    header('dead-letter.reason', reason),
    header('dead-letter.error', error),
  ];
  return { key: record.key, value: record.value, headers: [...record.headers, ...origin], partition };
}

function messageBytes({ key, value, headers }: DeadLetterMessage): number {
  const own = OVERHEAD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  return headers.reduce((sum, field) => sum + OVERHEAD_BYTES + 3 * field.key.length + (field.value?.length ?? 0), own);
}

/** Messages in requests that a broker takes, in their order; one that is larger than that goes alone. */
export function inRequests(messages: readonly DeadLetterMessage[]): readonly (readonly DeadLetterMessage[])[] {
  const requests: DeadLetterMessage[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    const size = messageBytes(message);
    const last = requests.at(-1);
    if (last && bytes + size <= MAX_REQUEST_BYTES) {
      last.push(message);
      bytes += size;
    } else {
      requests.push([message]);
      bytes = size;
    }
  }
  return requests;
}
