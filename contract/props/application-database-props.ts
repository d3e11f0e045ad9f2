// Written by npm run generate out of consumer.yaml's schema; never edited.

/** How PostgreSQL is reached. */
export interface ApplicationDatabaseProps {
  /**
   * Role to log in as; left out: the URL's.
   *
   * @default - the URL's
   */
  readonly user?: string;

  /**
   * Schema of the tables; created, with them, when absent.
   *
   * Allowed: a lower-case identifier: 1 to 63 letters, digits and underscores, no digit first.
   *
   * @default 'stream_consumer'
   */
  readonly schema?: string;

  /**
   * Whether the consumer creates and upgrades its tables when it starts. false: it checks that they are there and
   * what it knows, for `stream-consumer migrate` by a role that owns them.
   *
   * @default true
   */
  readonly migrate?: boolean;

  /**
   * Connections for writing: as many transactions run at once.
   *
   * Allowed: 1 to 100.
   *
   * @default 4
   */
  readonly poolSize?: number;

  /**
   * Time to wait for a connection.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, such as 500ms, 30s, 5m.
   *
   * @default '5s'
   */
  readonly connectTimeout?: string;

  /**
   * Time after which PostgreSQL gives up a statement of ours.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, such as 500ms, 30s, 5m.
   *
   * @default '30s'
   */
  readonly statementTimeout?: string;
}
