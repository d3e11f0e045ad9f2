import { Type } from 'typebox';
import { TOPIC_ALLOWED, TOPIC_PATTERN } from './kafka.ts';
import { ALLOWED, section } from './schema.ts';
import type { Settings } from './settings.ts';

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
    maxRatio: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Share of dead letters among the last 1,000 records beyond which the consumer stops with exit code 1 instead of writing them; left out: no limit.',
      }),
    ),
  },
  { ...section, description: 'What becomes of records that PostgreSQL cannot store.' },
);

/** The topic that takes the dead letters of `topic`: `deadLetters.topic`, or where that is left out `<topic>.dead-letters`. */
export const deadLetterTopic = (settings: Pick<Settings['deadLetters'], 'topic'>, topic: string): string =>
  settings.topic ?? `${topic}.dead-letters`;
