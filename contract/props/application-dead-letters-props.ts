// Written by npm run generate out of consumer.yaml's schema; never edited.

/** What becomes of records that PostgreSQL cannot store. */
export interface ApplicationDeadLettersProps {
  /**
   * Where records go that PostgreSQL cannot store: the table dead_letters, a Kafka topic, or both. Only the table can
   * be listed and replayed.
   *
   * @default 'table'
   */
  readonly to?: 'table' | 'topic' | 'both';

  /**
   * Topic for dead letters; it has to exist. Left out: the name of the topic the record came from, followed by
   * .dead-letters.
   *
   * Allowed: a topic's name: 1 to 249 letters, digits, dots, underscores and dashes.
   *
   * @default - the name of the topic the record came from, followed by .dead-letters
   */
  readonly topic?: string;

  /**
   * Share of dead letters among the last 1,000 records beyond which the consumer stops with exit code 1 instead of
   * writing them; left out: no limit.
   *
   * Allowed: 0 to 1.
   *
   * @default - no limit
   */
  readonly maxRatio?: number;
}
