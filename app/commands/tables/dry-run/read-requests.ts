import { readFile, stat } from 'node:fs/promises';
import type { Problem } from '../../../../settings/schema/problem.ts';
import { shownText } from '../../../../settings/schema/shown-value.ts';
import type { Settings } from '../../../../settings/settings.ts';
import { openTopicReader, type ReadRecords, type Selection } from '../../../kafka/topic-reader.ts';
import { recordsOf } from '../../../records/pack-records.ts';
import type { TopicPartition } from '../../../records/record.ts';
import type { Records } from '../../../records/records.ts';
import type { WriteRequest } from '../../../stream/ports/record-sink.ts';
import type { LogRange, UnreadableBatch } from '../../../stream/ports/record-source.ts';
import { FatalError } from '../../../stream/ports/stream-errors.ts';
import { readSample } from './read-sample.ts';

/** Records that are tried together: the progress is shown, and a signal is looked at, in between. */
const MOST_TOGETHER = 1_000;

/** All of them are in memory until they are tried. */
const MOST_BYTES = 128 * 1_048_576;

/** The records that are tried. */
export interface ReadRequests {
  readonly requests: readonly WriteRequest[];
  /** What was read of Kafka. */
  readonly ranges: readonly LogRange[];
  readonly unreadable: readonly UnreadableBatch[];
  /** Topics that may not be read, and why. */
  readonly forbidden: ReadonlyMap<string, FatalError>;
  /** Why there are none. */
  readonly problems: readonly Problem[];
}

const NOTHING_READ: ReadRequests = {
  requests: [],
  ranges: [],
  unreadable: [],
  forbidden: new Map(),
  problems: [],
};

class TooManyBytes extends Error {}

/** As requests of a consumer, from their first offset on. */
function requestsOf({ topic, partition }: TopicPartition, records: Records): readonly WriteRequest[] {
  return Array.from({ length: Math.ceil(records.length / MOST_TOGETHER) }, (_, nth) => {
    const part = records.slice(nth * MOST_TOGETHER, Math.min(records.length, (nth + 1) * MOST_TOGETHER));
    const [first, last] = [part.offsetAt(0) ?? 0n, part.offsetAt(part.length - 1) ?? 0n];
    return { topic, partition, expectedOffset: first, nextOffset: last + 1n, records: part };
  });
}

/** What is read of Kafka, and what is called meanwhile. */
interface KafkaReading {
  readonly topics: readonly string[];
  readonly selection: Selection;
  readonly signal: AbortSignal;
  /** Called with how many records have come. */
  onRead(records: number): void;
}

/**
 * Reads the records of topics without a group. One that may not be read keeps no other one from being read.
 *
 * @throws OutageError, FatalError where Kafka is away or refuses
 */
export async function readTopics(
  kafka: Settings['kafka'],
  { topics, selection, signal, onRead }: KafkaReading,
): Promise<ReadRequests> {
  const reader = openTopicReader(kafka);
  const requests: WriteRequest[] = [];
  const ranges: LogRange[] = [];
  const unreadable: UnreadableBatch[] = [];
  const forbidden = new Map<string, FatalError>();
  const noteForbidden = (topic: string) => (error: unknown) => {
    if (!(error instanceof FatalError && error.isOfTopic)) {
      throw error;
    }
    forbidden.set(topic, error);
    return [];
  };
  const onUnreadable = (batch: UnreadableBatch) => unreadable.push(batch);
  let [count, bytes] = [0, 0];
  const take = (read: ReadRecords) => {
    // The memory of what was fetched is used again.
    const kept = recordsOf([...read.records]);
    count += kept.length;
    bytes += kept.bytes;
    if (bytes > MOST_BYTES) {
      throw new TooManyBytes();
    }
    requests.push(...requestsOf(read, kept));
    onRead(count);
  };
  try {
    for (const topic of topics) {
      const reading = reader.read(topic, selection, { take, onUnreadable, signal });
      ranges.push(...(await reading.catch(noteForbidden(topic))));
    }
    return { ...NOTHING_READ, requests: requests.toSorted(byPlace), ranges, unreadable, forbidden };
  } catch (error) {
    if (error instanceof TooManyBytes) {
      return { ...NOTHING_READ, problems: [tooLarge('--records', selection.count)] };
    }
    throw error;
  } finally {
    await reader.close();
  }
}

/** Partitions come as the brokers answer: the output is the same each time. */
const byPlace = (one: WriteRequest, other: WriteRequest): number =>
  one.topic === other.topic
    ? one.partition - other.partition || Number(one.expectedOffset - other.expectedOffset)
    : one.topic < other.topic
      ? -1
      : 1;

const tooLarge = (path: string, given: number | string): Problem => ({
  path,
  message: `asks for records of more than ${MOST_BYTES / 1_048_576} MiB`,
  given,
  allowed: 'fewer records',
});

/** Reads the records of a file in the place of Kafka. */
export async function readSampleFile(path: string, topics: readonly string[]): Promise<ReadRequests> {
  try {
    const { size } = await stat(path);
    if (size > MOST_BYTES) {
      return { ...NOTHING_READ, problems: [tooLarge('--sample', shownText(path))] };
    }
    const { samples, problems } = readSample(await readFile(path), topics);
    const requests = problems.length > 0 ? [] : samples.flatMap((each) => requestsOf(each, recordsOf(each.records)));
    return { ...NOTHING_READ, requests, problems };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) {
      throw error;
    }
    const given = shownText(path);
    const problem = { path: '--sample', message: `names a file that cannot be read (${String(error.code)})`, given };
    return { ...NOTHING_READ, problems: [{ ...problem, allowed: 'a file with one JSON object a line' }] };
  }
}
