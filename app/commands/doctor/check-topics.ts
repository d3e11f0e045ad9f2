import { nearestKey } from '../../../settings/schema/problem.ts';
import { deadLetterTopic } from '../../../settings/sections/dead-letters.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { isForbiddenTopic, isUnknownTopic, UNKNOWN_TOPIC_OR_PARTITION } from '../../kafka/client/kafka-errors.ts';
import type { KafkaAdmin } from '../../kafka/kafka-admin.ts';
import type { DescribedTopic } from '../../kafka/kafkajs/admin-requests.ts';
import { away, type Finding, ok, type Subject, warning, wrong } from './finding.ts';

type AclOperation = 'Read' | 'Write';

/** The command that lets the consumer's user do something, for the brokers' own ACLs. */
export function aclCommand(
  { kafka: { brokers, sasl } }: Pick<Settings, 'kafka'>,
  operation: AclOperation,
  resource: string,
): string {
  const principal = sasl?.username === undefined ? '<the user that the consumer logs in as>' : sasl.username;
  const quoted = `"User:${principal}"`;
  return (
    `kafka-acls.sh --bootstrap-server ${brokers[0]} --add --allow-principal ${quoted} --operation ${operation} ` +
    `${resource}; or take away what denies it`
  );
}

/** What the brokers say of topics, by their names. */
export type DescribedTopics = ReadonlyMap<string, DescribedTopic>;

/** Asks about the topics that are read, and those for dead letters. @throws OutageError while the brokers are away */
export async function describeTopics(settings: Settings, admin: KafkaAdmin): Promise<DescribedTopics> {
  const asked = [...new Set([...topicsOf(settings), ...deadLetterTopicsOf(settings)])];
  const topics = (await admin.describeTopics(asked)) ?? (await byNameAlone(asked, admin));
  return new Map(topics.map((each) => [each.topic, each]));
}

/** Of brokers before Kafka 2.8, which do not say what the user may do. */
async function byNameAlone(topics: readonly string[], admin: KafkaAdmin): Promise<readonly DescribedTopic[]> {
  const missing = await admin.missingTopics(topics);
  return topics.map((topic) => ({
    ...{ topic, id: '', partitions: 0, leaderless: [], mayRead: null, mayWrite: null },
    topicErrorCode: missing.includes(topic) ? UNKNOWN_TOPIC_OR_PARTITION : 0,
  }));
}

const deadLetterTopicsOf = (settings: Settings): readonly string[] =>
  settings.deadLetters.to === 'table'
    ? []
    : [...new Set(topicsOf(settings).map((topic) => deadLetterTopic(settings.deadLetters, topic)))];

/** What a topic has to be, and what else is known. */
interface TopicCheck {
  readonly settings: Settings;
  readonly described: DescribedTopics;
  /** Names that may have been meant. */
  readonly names: readonly string[];
  /** Topics that were read before; `null`: not known. */
  readonly stored: ReadonlySet<string> | null;
}

/** A line for each topic that is read, and for each that takes dead letters. */
export const topicFindings = (check: TopicCheck): readonly Finding[] => [
  ...topicsOf(check.settings).map((topic) => topicFinding(topic, check)),
  ...deadLetterTopicsOf(check.settings).map((topic) => letterTopic(topic, check)),
];

function topicFinding(topic: string, check: TopicCheck): Finding {
  const subject = { area: 'Kafka', check: 'topic', name: topic } as const;
  const described = check.described.get(topic);
  const cause = described === undefined || isUnknownTopic(described) ? undefined : described;
  if (cause === undefined) {
    return missingTopic(subject, check);
  }
  if (isForbiddenTopic(cause) || cause.mayRead === false) {
    const may = isForbiddenTopic(cause) ? 'not even describe it' : 'describe it, and not read it';
    return wrong(subject, {
      message: `Kafka lets the consumer ${may}`,
      code: 'TOPIC_FORBIDDEN',
      mend: aclCommand(check.settings, 'Read', `--topic ${topic}`),
    });
  }
  return usable(subject, cause, cause.mayRead === null ? 'whether it may be read is not known' : 'may be read');
}

function usable(subject: Subject, { topicErrorCode, partitions, leaderless }: DescribedTopic, rights: string): Finding {
  if (topicErrorCode !== 0) {
    return away(subject, `the brokers cannot say what it is for now (code ${topicErrorCode} of Kafka's protocol)`);
  }
  if (leaderless.length > 0) {
    return away(subject, {
      message: `no broker leads ${leaderless.length} of its ${partitions} partitions (${leaderless.join(', ')})`,
      mend: 'start the brokers that have them (docs/runbooks/PartitionLeaderless.md); the others are read',
    });
  }
  const count = partitions === 0 ? 'it is there' : `${partitions} partition${partitions === 1 ? '' : 's'}`;
  return ok(subject, `${count}, ${rights}`);
}

function missingTopic(subject: Subject, { settings, names, stored }: TopicCheck): Finding {
  const nearest = nearestKey(subject.name, names);
  const meant = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  if (stored?.has(subject.name) !== true) {
    return wrong(subject, {
      message: `Kafka does not have it${meant}`,
      mend: 'create it, or correct kafka.topics (KAFKA_TOPICS) or tables; the consumer waits for it before it reads any topic',
    });
  }
  const message = `it was read before, and Kafka does not have it any more${meant}`;
  const mend = 'docs/runbooks/TopicGone.md';
  return settings.consumer.onTopicGone === 'stop'
    ? wrong(subject, { message, mend, code: 'TOPIC_GONE' })
    : warning(subject, { message: `${message}. The consumer goes on with the others`, mend });
}

function letterTopic(topic: string, { settings, described, names }: TopicCheck): Finding {
  const subject = { area: 'Kafka', check: 'dead-letter topic', name: topic } as const;
  const found = described.get(topic);
  if (found === undefined || isUnknownTopic(found)) {
    const nearest = nearestKey(topic, names);
    return wrong(subject, {
      message: `Kafka does not have it${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
      mend: 'create it, or correct deadLetters.topic: the first dead letter holds up its partition until then',
    });
  }
  if (isForbiddenTopic(found) || found.mayWrite === false) {
    return wrong(subject, {
      message: 'Kafka does not let the consumer write to it',
      code: 'DEAD_LETTER_TOPIC_REFUSED',
      mend: aclCommand(settings, 'Write', `--topic ${topic}`),
    });
  }
  return usable(subject, found, found.mayWrite === null ? 'whether it may be written is not known' : 'may be written');
}
