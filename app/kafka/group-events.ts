import type { TopicPartition } from '../records/record.ts';
import type { UnreadableBatch } from '../stream/record-source.ts';
import type { TruncatedLog } from '../stream/topic-ids.ts';
import {
  type FetchAnswer,
  type FetchByName,
  kafkajsEvents,
  type SkippedRange,
  type TopicsAnswer,
} from './kafkajs-consumer-patches.ts';

/** Takes what the patches of kafkajs report about one group. */
interface GroupListener {
  readonly onOutOfRange: (partition: TopicPartition) => void;
  readonly onTopics: (unknown: readonly string[], partitions: TopicsAnswer['partitions']) => void;
  readonly onSkipped: (range: SkippedRange) => void;
  readonly onUnreadable: (batch: UnreadableBatch) => void;
  readonly onAnswered: (answer: FetchAnswer) => void;
  readonly onTruncated: (log: TruncatedLog) => void;
  readonly onFetchedByName: (fetch: FetchByName) => void;
}

/** Tells the listener the events of its group, until `removeAllListeners`. */
export function listenToGroup(groupId: string, listener: GroupListener): void {
  const ofGroup =
    <Event extends { readonly groupId: string }>(tell: (event: Event) => void) =>
    (event: Event): void => {
      if (event.groupId === groupId) {
        tell(event);
      }
    };
  kafkajsEvents.on(
    'outOfRange',
    ofGroup(({ topic, partition }) => listener.onOutOfRange({ topic, partition })),
  );
  kafkajsEvents.on(
    'topics',
    ofGroup(({ unknown, partitions }) => listener.onTopics(unknown.toSorted(), partitions)),
  );
  kafkajsEvents.on('skipped', ofGroup(listener.onSkipped));
  kafkajsEvents.on(
    'unreadable',
    ofGroup(({ groupId: _, ...batch }) => listener.onUnreadable(batch)),
  );
  kafkajsEvents.on('answered', ofGroup(listener.onAnswered));
  kafkajsEvents.on(
    'truncated',
    ofGroup(({ groupId: _, ...log }) => listener.onTruncated(log)),
  );
  kafkajsEvents.on('fetchedByName', ofGroup(listener.onFetchedByName));
}
