import { EXIT_CODE } from './exit-code.ts';
import { REPOSITORY_URL } from './product-version.ts';

/** Why the consumer ends by itself. */
interface FatalDefinition {
  /** What happened, as a sentence without its end. */
  readonly meaning: string;
  /** What a person does first. */
  readonly firstStep: string;
  /** The page of docs/ that has more. */
  readonly page: string;
  /** 78 where the start of another Pod with the same settings would meet it again. */
  readonly exitCode: number;
  /** Whether it is about one topic: one that only a template names waits, and the consumer goes on with the others. */
  readonly isOfTopic: boolean;
}

const failed = (meaning: string, firstStep: string, page: string): FatalDefinition => ({
  meaning,
  firstStep,
  page,
  exitCode: EXIT_CODE.failed,
  isOfTopic: false,
});

const ofConfiguration = (...parts: Parameters<typeof failed>): FatalDefinition => ({
  ...failed(...parts),
  exitCode: EXIT_CODE.configuration,
});

const ofTopic = (definition: FatalDefinition): FatalDefinition => ({ ...definition, isOfTopic: true });

/**
 * All codes of the last line of a log, in the order of docs/messages.md. They are stable: alerts and runbooks may match
 * them.
 */
export const FATAL_CODES = {
  RECORD_ALREADY_WRITTEN: failed(
    'the tables contain a record that the group has not written yet: another group writes into the schema, or its row of offsets was lost or set back',
    'give each group its own `database.schema`, or set `next_offset` behind the last record in the table',
    'reliability.md#what-it-rests-on',
  ),
  OFFSETS_GONE: ofTopic(
    failed(
      'Kafka deleted records before they were read',
      'decide whether the loss is acceptable; then set `consumer.onGap: skip`, which records it in the table `gaps`',
      'reliability.md#what-it-rests-on',
    ),
  ),
  STORED_OFFSET_AHEAD: ofTopic(
    failed(
      'the log of a partition has ended below the stored offset for 30 s: it is another log than the one that was read',
      'compare the topic with the one before; then `stream-consumer offsets begin-again` or `accept-topic`',
      'schema.md#a-topic-that-was-created-again-mirrored-or-restored',
    ),
  ),
  STORED_OFFSET_MISSING: failed(
    'the row of a partition in `offsets` is gone: somebody deleted it, or PostgreSQL failed over to a standby that lacks it',
    'find out which; the message has the way to start again without a loss',
    'reliability.md#what-it-rests-on',
  ),
  TOPIC_GONE: failed(
    'Kafka does not have a subscribed topic any more, and `consumer.onTopicGone` is `stop`',
    'create the topic, or take it out of the settings',
    'faults.md#a-topic-that-is-deleted',
  ),
  TOPIC_RECREATED: ofTopic(
    failed(
      'a topic was deleted and created again, so its offsets are those of other records',
      '`stream-consumer offsets begin-again TOPIC` if it has other records, `accept-topic` if it has the same ones',
      'schema.md#a-topic-that-was-created-again-mirrored-or-restored',
    ),
  ),
  TOPIC_FORBIDDEN: ofTopic(
    failed(
      'an ACL denies the consumer a topic',
      'allow READ and DESCRIBE on the topic; `stream-consumer doctor` prints the command',
      'doctor.md',
    ),
  ),
  GROUP_FORBIDDEN: failed(
    'an ACL denies the consumer its group',
    'allow READ on the group; `stream-consumer doctor` prints the command',
    'doctor.md',
  ),
  LOG_TRUNCATED: ofTopic(
    failed(
      'the log of a partition has diverged from what was read: records were replaced by others at the same offsets',
      'read both ways to go on in the message, and choose one',
      'reliability.md#what-it-rests-on',
    ),
  ),
  GROUP_WRITES_ELSEWHERE: ofConfiguration(
    'members of the group write into another schema or database',
    'give both the same `database.url` and `database.schema`, or this one another `kafka.groupId`',
    'reliability.md#what-it-rests-on',
  ),
  GROUP_MEETS_ANOTHER: ofTopic(
    ofConfiguration(
      'another group of the schema fills the same table of yours from the same topic',
      'use its `kafka.groupId` to take its place, or consent with `tables[].sharedWithGroups: true`',
      'tables.md#a-second-group',
    ),
  ),
  GROUP_INSTANCE_REPLACED: failed(
    'another process joined the group with the same `kafka.groupInstanceId` and took the place of this one',
    'give each process another name; the manifests take the uid of the Pod',
    'operate.md#the-group',
  ),
  DATABASE_REFUSED: failed(
    'PostgreSQL refuses the login, the database, a table or a privilege',
    'read what it refused in the message; a missing privilege has its `GRANT` there',
    'database-roles.md#what-happens-when-something-is-missing',
  ),
  DATABASE_TOO_OLD: failed(
    'the server is older than the oldest PostgreSQL that is supported',
    'upgrade PostgreSQL, or set `database.url` to another server',
    'doctor.md',
  ),
  DATABASE_ENCODING: failed(
    'the encoding of the database is not UTF8, so it cannot store every record',
    "create a database with `ENCODING 'UTF8' TEMPLATE template0` and set `database.url` to it",
    'doctor.md',
  ),
  DATABASE_NOT_MIGRATED: failed(
    'the tables are missing or too old, and `database.migrate` is false',
    'run `stream-consumer migrate` as the role that owns the tables',
    'database-roles.md#migrate',
  ),
  TABLE_MISMATCH: failed(
    'a table of this program has other columns or keys than it writes',
    'undo the change that the message names',
    'schema.md',
  ),
  TABLES_DO_NOT_FIT: ofTopic(
    ofConfiguration(
      'tables of yours do not fit the setting `tables`',
      'run `stream-consumer tables check`, and correct the tables or the setting',
      'tables.md#when-a-table-changes',
    ),
  ),
  FIELD_UNMAPPED: ofTopic(
    ofConfiguration(
      'records have a field that no column takes, and the entry of `tables` has `unmapped: wait`',
      'add the column to the table, or leave `unmapped: wait` out of the entry',
      'tables.md#when-a-table-changes',
    ),
  ),
  REGISTRY_REFUSED: ofConfiguration(
    'the schema registry refuses the login, or is none',
    'check `schemaRegistry` in the settings; `stream-consumer doctor` asks the registry at once',
    'formats.md',
  ),
  ROWS_DROPPED: ofTopic(
    failed(
      'a trigger dropped rows, so their records would be in no table',
      'drop the trigger that the message names; for `records` alone `records.onDroppedRows: allow` accepts it',
      'reliability.md#what-it-rests-on',
    ),
  ),
  TABLE_REFUSES_ROWS: ofTopic(
    failed(
      'one table takes no rows: a constraint or trigger refuses all of many rows alike, or what it uses fails',
      'drop, change or mend what the message names',
      'dead-letters.md#how-many-there-may-be',
    ),
  ),
  KAFKA_CLIENT_STOPPED: failed(
    'the Kafka client ended for a reason that no retry mends',
    'read the reason in the message; `stream-consumer doctor` asks the brokers at once',
    'doctor.md',
  ),
  KAFKA_LOGIN_REFUSED: failed(
    'the brokers refuse the login',
    'check `kafka.sasl` and the user in Kafka',
    'connect.md#what-kafka-refuses',
  ),
  KAFKA_CERTIFICATE_REFUSED: failed(
    'a certificate is refused: that of the brokers by the consumer, or the other way round',
    'check `kafka.ssl`, and the names and dates of the certificates',
    'connect.md#what-kafka-refuses',
  ),
  KAFKA_TLS_MISMATCH: failed(
    'one side speaks TLS and the other one does not',
    'check the port in `kafka.brokers`, and `kafka.ssl`',
    'connect.md#what-kafka-refuses',
  ),
  LISTEN_FAILED: failed(
    'the HTTP port cannot be listened on',
    'free the port, or set `server.port`',
    'access.md#ports-and-paths',
  ),
  TOO_MANY_DEAD_LETTERS: ofTopic(
    failed(
      "more than `deadLetters.maxRatio` of a topic's last 1,000 records would be dead letters",
      'look at the records that the message names, and correct the producer',
      'dead-letters.md#how-many-there-may-be',
    ),
  ),
  DEAD_LETTER_TOPIC_REFUSED: ofTopic(
    failed(
      'the topic for dead letters never takes a letter: it is missing, too small or forbidden',
      'correct the topic as the message says',
      'dead-letters.md#where-they-go',
    ),
  ),
  UNEXPECTED: failed(
    'a mistake in the program',
    'report the whole line with the version; a restart is harmless',
    'runbooks/ConsumerRestarting.md',
  ),
} as const satisfies Readonly<Record<string, FatalDefinition>>;

export type FatalCode = keyof typeof FATAL_CODES;

/** Where docs/messages.md explains a code. */
export const helpOf = (code: FatalCode): string => `${REPOSITORY_URL}/blob/main/docs/messages.md#${code.toLowerCase()}`;
