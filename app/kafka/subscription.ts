import type { Logger } from '../logging/logger.ts';
import { Retries } from '../stream/partition/retries.ts';
import type { Clock } from '../stream/ports/clock.ts';
import type { Position, RecordSourceListener } from '../stream/ports/record-source.ts';
import { FatalError, OutageError } from '../stream/ports/stream-errors.ts';
import { messageOf, refusal } from './client/kafka-errors.ts';
import type { GroupClaim } from './group-claim.ts';
import type { KafkaAdmin } from './kafka-admin.ts';

/** The parts that a look before the group is joined takes. */
export interface SubscriptionParts {
  /** The stored positions of topics: one that has any was read before. */
  readonly storedPositions: (topics: readonly string[]) => Promise<readonly Position[]>;
  readonly admin: Pick<KafkaAdmin, 'missingTopics'>;
  /** @default no topic is named by a template */
  readonly templates?: TemplateStart;
  readonly claim: Pick<GroupClaim, 'check'>;
}

/** What is done about templates before the group is joined. */
export interface TemplateStart {
  /** Lists the cluster, and returns the topics that templates take. */
  list(): Promise<readonly string[]>;
  /** Stores what a first start has to; the group is known to belong here. */
  begin(): Promise<void>;
}

/** How long to go on trying, and who learns of each failure. */
interface SubscriptionWatch {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Receives each reason for waiting once in a row, as the log does. */
  readonly listener: Pick<RecordSourceListener, 'onAsked' | 'onFound' | 'onWaiting'>;
  /** For the log. */
  readonly brokers: readonly string[];
}

/**
 * Subscribes to the topics, and tries again while that fails, until the signal is aborted.
 *
 * @throws FatalError when the group belongs to other tables, or an ACL forbids it or a topic
 */
export async function subscribe(
  topics: string[],
  parts: SubscriptionParts,
  { clock, signal, logger, listener, brokers }: SubscriptionWatch,
): Promise<void> {
  let reported = '';
  listener.onAsked();
  await new Retries(clock).until(() => subscribeOnce(topics, parts, listener), signal, {
    onOutage: ({ message: reason, reason: culprit }) => {
      if (reason !== reported) {
        reported = reason;
        logger.warn({ brokers, reason }, `waiting for ${culprit === 'kafka_away' ? 'Kafka' : 'PostgreSQL'}`);
        listener.onWaiting(reason);
      }
    },
  });
}

/**
 * Subscribes to the topics. One that is missing and was never read is waited for: its name may be wrong. One that was
 * read before is gone, and the others do not wait for it. Of templates one topic at least has to be there.
 *
 * @throws OutageError when a broker is away, a topic is missing that was never read, or for any other failure
 * @throws FatalError when the group belongs to other tables, or an ACL forbids it or a topic
 */
async function subscribeOnce(
  topics: string[],
  parts: SubscriptionParts,
  listener: Pick<RecordSourceListener, 'onFound'>,
): Promise<void> {
  try {
    const unlisted = topics.length === 0 ? [] : await parts.admin.missingTopics(topics);
    const taken = (await parts.templates?.list()) ?? [];
    listener.onFound([...topics.filter((topic) => !unlisted.includes(topic)), ...taken]);
    if (topics.length + taken.length === 0) {
      throw new Error(
        'no topic matches a template of kafka.topics or tables yet, or the login may describe none that does',
      );
    }
    const missing = await neverRead(unlisted, parts);
    if (missing.length > 0) {
      throw new Error(
        `no such topic: ${missing.join(', ')}; create it, or correct kafka.topics (KAFKA_TOPICS) or tables`,
      );
    }
    // Before the group is joined: a consumer that does not belong there takes no partition away for a while.
    await parts.claim.check();
    await parts.templates?.begin();
  } catch (error) {
    if (error instanceof OutageError || error instanceof FatalError) {
      throw error;
    }
    throw refusal(error, { topics }) ?? new OutageError(messageOf(error), { reason: 'kafka_away', cause: error });
  }
}

async function neverRead(
  topics: readonly string[],
  { storedPositions }: SubscriptionParts,
): Promise<readonly string[]> {
  const stored = topics.length === 0 ? [] : await storedPositions(topics);
  return topics.filter((topic) => !stored.some((position) => position.topic === topic));
}
