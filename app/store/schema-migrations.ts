/** One numbered change of the schema; a number that was released never changes its meaning. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** SQL for the schema with this (already quoted) name. */
  readonly sql: (schema: string) => string;
}

/**
 * The tables, in the order of their making.
 *
 * `offsets` keeps half of each page free and has no further index, so that moving an offset stays within its page (HOT).
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'create records, offsets and dead_letters',
    sql: (schema) => `
      CREATE TABLE ${schema}.records (
        topic text NOT NULL,
        partition int NOT NULL,
        "offset" bigint NOT NULL,
        timestamp timestamptz,
        key text,
        headers jsonb NOT NULL,
        value jsonb,
        ingested_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (topic, partition, "offset")
      );
      CREATE TABLE ${schema}.offsets (
        group_id text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        next_offset bigint NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, topic, partition)
      ) WITH (fillfactor = 50);
      CREATE TABLE ${schema}.dead_letters (
        group_id text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        "offset" bigint NOT NULL,
        timestamp timestamptz,
        key bytea,
        headers jsonb NOT NULL,
        value bytea,
        reason text NOT NULL,
        error text NOT NULL,
        failed_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, topic, partition, "offset")
      );`,
  },
  {
    version: 2,
    name: 'create gaps',
    sql: (schema) => `
      CREATE TABLE ${schema}.gaps (
        group_id text NOT NULL,
        topic text NOT NULL,
        partition int NOT NULL,
        from_offset bigint NOT NULL,
        next_offset bigint NOT NULL,
        found_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (group_id, topic, partition, from_offset)
      );`,
  },
];
