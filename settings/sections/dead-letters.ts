import { type Static, Type } from 'typebox';
import type { Rule } from '../schema/check.ts';
import { durationBetween, optionalDuration } from '../schema/duration.ts';
import type { Problem } from '../schema/problem.ts';
import { ALLOWED, section } from '../schema/schema.ts';
import { type KafkaPart, TOPIC_ALLOWED, TOPIC_PATTERN } from './kafka.ts';
import { isTemplate } from './tables/topic-template.ts';
import { type TablesPart, topicsOf } from './tables.ts';

/** Where records go that PostgreSQL cannot store. */
export const deadLetters = Type.Object(
  {
    to: Type.Enum(['table', 'topic', 'both'], {
      default: 'table',
      description:
        'Where records go that PostgreSQL cannot store: the table dead_letters, a Kafka topic, or both. Only the table can be listed and replayed.',
    }),
    topic: Type.Optional(
      Type.String({
        pattern: TOPIC_PATTERN,
        [ALLOWED]: TOPIC_ALLOWED,
        description:
          'Topic for dead letters; it has to exist. Left out: the name of the topic the record came from, followed by .dead-letters.',
      }),
    ),
    maxRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description:
        'Share of dead letters among the last 1,000 records of a topic beyond which none is written: the consumer stops with exit code 1, or a topic of a template waits; 1: no limit.',
    }),
    keep: optionalDuration(
      'How long dead letters stay in the table, from failed_at on; older ones are deleted and counted, and are then in no table. From 1d to 36500d. Left out: they stay.',
    ),
  },
  { ...section, description: 'What becomes of records that PostgreSQL cannot store.' },
);

type DeadLetters = Static<typeof deadLetters>;

/**
 * The topic that takes the dead letters of `topic`: `deadLetters.topic`, or where that is left out
 * `<topic>.dead-letters`.
 */
export const deadLetterTopic = (settings: Pick<DeadLetters, 'topic'>, topic: string): string =>
  settings.topic ?? `${topic}.dead-letters`;

/** Kafka makes a folder of a topic's name and a partition's number. */
const LONGEST_TOPIC = 249;

/**
 * Dead letters that come back as records would go round for ever; names that Kafka cannot have would stop the first
 * one.
 */
const deadLetterTopics: Rule<KafkaPart & TablesPart & { readonly deadLetters: DeadLetters }> = {
  reads: ['deadLetters.to', 'deadLetters.topic', 'kafka.topics', 'tables'],
  find: ({ deadLetters, ...settings }) => {
    if (deadLetters.to === 'table') {
      return [];
    }
    const path = 'deadLetters.topic';
    // No template takes a topic for dead letters, and its own topics are known when Kafka lists them.
    const topics = topicsOf(settings).filter((text) => !isTemplate(text));
    const names = new Set(topics.map((topic) => deadLetterTopic(deadLetters, topic)));
    return [...names].flatMap((given): Problem[] => {
      if (topics.includes(given)) {
        return [
          {
            path,
            message: 'is a topic that is read',
            given,
            allowed: 'any topic that is in neither kafka.topics nor tables',
          },
        ];
      }
      const isName = given.length <= LONGEST_TOPIC && given !== '.' && given !== '..';
      const allowed = `a name of at most ${LONGEST_TOPIC} characters, other than . and ..`;
      return isName ? [] : [{ path, message: 'is not a name Kafka allows', given, allowed }];
    });
  },
};

/** Letters of the last day are counted for `maxRatio`. */
const keptForLong = durationBetween<{ readonly deadLetters: DeadLetters }>(
  'deadLetters.keep',
  ({ deadLetters: { keep } }) => keep,
  '1d',
  '36500d',
);

/** What must fit together where dead letters go into a topic, and how long they may stay in the table. */
export const DEAD_LETTER_RULES = [deadLetterTopics, keptForLong];
