import { FatalError } from '../../stream/ports/stream-errors.ts';

/** Kafka's code of a topic that the broker does not have. */
export const UNKNOWN_TOPIC_OR_PARTITION = 3;

/** Kafka's code of a topic that the user may not read or describe. */
export const TOPIC_AUTHORIZATION_FAILED = 29;

/** What a broker answers about a topic. */
interface AnsweredTopic {
  /** Left out as 0: no error. */
  readonly topicErrorCode?: number;
}

export const isUnknownTopic = ({ topicErrorCode }: AnsweredTopic): boolean =>
  topicErrorCode === UNKNOWN_TOPIC_OR_PARTITION;
export const isForbiddenTopic = ({ topicErrorCode }: AnsweredTopic): boolean =>
  topicErrorCode === TOPIC_AUTHORIZATION_FAILED;

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

/** The topics that an error names as forbidden; none where it is another one, or names none. */
export const forbiddenTopics = (error: unknown): readonly string[] =>
  [...causesOf(error)].find((cause) => cause instanceof ForbiddenTopics)?.topics ?? [];

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
    const isKnown = named !== undefined || topics.length === 1;
    const which = isKnown ? forbidden.join(', ') : `one of ${forbidden.join(', ')}`;
    const remedy = forbidden.map(readingTopic).join('; ');
    const message = `Kafka forbids ${which} to this consumer. Nothing of it was skipped. To go on, ${remedy}; or take it out of kafka.topics and tables. Then start again`;
    const [topic] = forbidden;
    return new FatalError('TOPIC_FORBIDDEN', message, { cause: error, ...(isKnown && topic && { topic }) });
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

/** The answer by which another broker coordinates the group. */
const ELSEWHERE = 'NOT_COORDINATOR_FOR_GROUP';

/** Answers by which the broker does not coordinate the group, or not yet. */
const MOVED: ReadonlySet<string | undefined> = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  ELSEWHERE,
]);

/** The answer by which another generation begins. */
export const REBALANCING = 'REBALANCE_IN_PROGRESS';

/** Answers that only say that another generation begins, or began. */
export const OF_GENERATION: ReadonlySet<string | undefined> = new Set([REBALANCING, 'ILLEGAL_GENERATION']);

/** Answers by which the group may have given what the member owned to others. */
export const EXPELLED: ReadonlySet<string | undefined> = new Set(['UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID']);

/** Whether the group's coordinator answered, whatever the answer says; another broker's answer is none. */
export const isAnswer = (error: unknown): boolean => {
  const type = errorTypeOf(error);
  return type !== undefined && !MOVED.has(type);
};

/**
 * Whether the broker answered a commit as the group's coordinator. One that cannot store the offsets, as where too few
 * of their replicas are in sync, answers GROUP_COORDINATOR_NOT_AVAILABLE, and coordinates the group nevertheless.
 */
export const isAnswerToCommit = (error: unknown): boolean => {
  const type = errorTypeOf(error);
  return type !== undefined && type !== ELSEWHERE;
};

/** Whether no later attempt can succeed either: an answer that does not pass by itself. */
export function isForGood(error: unknown): boolean {
  const isLasting = (cause: Error & { readonly retriable?: unknown }) =>
    cause instanceof FatalError || (cause.retriable === false && Reflect.has(cause, 'type'));
  return [...causesOf(error)].some(isLasting);
}

/** The message of an error, and anything else that was thrown as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Where an error of kafkajs happened, as far as it says so. */
interface Place {
  readonly broker?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
}

/** The message of a failure, with host and port of the broker where kafkajs knows and does not name them. */
export function failureText(error: unknown): string {
  const text = messageOf(error);
  for (const { broker, host, port } of causesOf(error) as Iterable<Place>) {
    const place = typeof broker === 'string' ? broker : `${host}:${port}`;
    if (/^[^\s/@]+:\d+$/.test(place)) {
      return text.includes(place) ? text : `${text} (${place})`;
    }
  }
  return text;
}

export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** kafkajs's errors of a broker that cannot be reached or does not answer. */
const AWAY: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSGroupCoordinatorNotFound',
]);

/** Answers that pass by themselves, and are not about a broker that is away. */
const OF_CONTENT: ReadonlySet<unknown> = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'CORRUPT_MESSAGE']);

/** Whether kafkajs failed because brokers are away, or answer that they cannot serve yet. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  const { retriable, type } = error as { retriable?: unknown; type?: unknown };
  const cannotServe = error.name === 'KafkaJSProtocolError' && retriable === true && !OF_CONTENT.has(type);
  return AWAY.has(error.name) || cannotServe || isOutage(error.cause);
}
