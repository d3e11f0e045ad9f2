import { FatalError } from '../stream/ports/stream-errors.ts';

/** Kafka's code of a topic that the user may not read or describe. */
export const TOPIC_AUTHORIZATION_FAILED = 29;

/** Topics that the user may not describe. kafkajs's own error is about a whole request, and names none of them. */
export class ForbiddenTopics extends Error {
  override readonly name = 'ForbiddenTopics';
  readonly type = 'TOPIC_AUTHORIZATION_FAILED';
  /** For kafkajs, which tries again where this is not false. */
  readonly retriable = false;
  readonly topics: readonly string[];

  constructor(topics: readonly string[]) {
    super(`not authorized to describe ${topics.join(', ')}`);
    this.topics = topics;
  }
}

/** The error and its causes, as far as they are errors. */
export function* causesOf(error: unknown): Generator<Error> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    yield cause;
  }
}

/** The broker's error type; kafkajs wraps the broker's error, sometimes twice. */
export function errorTypeOf(error: unknown): string | undefined {
  for (const { type } of causesOf(error) as Iterable<{ readonly type?: unknown }>) {
    if (typeof type === 'string') {
      return type;
    }
  }
  return undefined;
}

/** What a request was about. */
interface Asked {
  readonly groupId?: string;
  readonly topics?: readonly string[];
}

/** What the user of the consumer needs to read a topic. */
export const readingTopic = (topic: string): string =>
  `allow the user that the consumer logs in as Read, which includes Describe, on the topic ${topic} (kafka-acls.sh --add ` +
  `--operation Read --topic ${topic}), or take away what denies it`;

/**
 * The error `TOPIC_FORBIDDEN` or `GROUP_FORBIDDEN` for an answer by which an ACL forbids it; `null` for any other
 * failure. Nothing was read, so all records are still ahead of the stored offsets.
 */
export function refusal(error: unknown, { groupId = '', topics = [] }: Asked): FatalError | null {
  const type = errorTypeOf(error);
  if (type === 'TOPIC_AUTHORIZATION_FAILED') {
    const named = [...causesOf(error)].find((cause) => cause instanceof ForbiddenTopics);
    const forbidden = named?.topics ?? topics;
    const which = named || topics.length === 1 ? forbidden.join(', ') : `one of ${forbidden.join(', ')}`;
    const remedy = forbidden.map(readingTopic).join('; ');
    const message = `Kafka forbids ${which} to this consumer. Nothing of it was skipped. To go on, ${remedy}; or take it out of kafka.topics and tables. Then start again`;
    return new FatalError('TOPIC_FORBIDDEN', message, { cause: error });
  }
  if (type === 'GROUP_AUTHORIZATION_FAILED') {
    const message =
      `Kafka forbids the group ${groupId} to this consumer. Nothing was skipped. To go on, allow the user that the consumer ` +
      `logs in as Read, which includes Describe, on the group ${groupId} (kafka-acls.sh --add --operation Read --group ` +
      `${groupId}), or take away what denies it; or choose another kafka.groupId. Then start again`;
    return new FatalError('GROUP_FORBIDDEN', message, { cause: error });
  }
  return null;
}

/** Why a client stopped for good. */
export function stoppedForGood(error: Error, asked: Asked): FatalError {
  const message = `the Kafka client stopped for good: ${error.name}: ${error.message}`;
  return refusal(error, asked) ?? new FatalError('KAFKA_CLIENT_STOPPED', message, { cause: error });
}
