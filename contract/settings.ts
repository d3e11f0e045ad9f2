import { type Static, Type } from 'typebox';
import { DURATION_PATTERN } from './duration.ts';
import { PRODUCT_NAME } from './identity.ts';
import { ALLOWED, SECRET } from './schema-node.ts';

const TOPIC_PATTERN = '^[a-zA-Z0-9._-]{1,249}$';
const TOPIC_ALLOWED = "a topic's name: 1 to 249 letters, digits, dots, underscores and dashes";

const closed = { additionalProperties: false } as const;

const duration = (value: string, description: string) =>
  Type.String({
    pattern: DURATION_PATTERN,
    default: value,
    description,
    [ALLOWED]: 'a duration: a whole number and one of ms, s, m, h, such as 500ms, 30s, 5m',
  });

const server = Type.Object(
  {
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 8080,
      description: 'Port of the operational HTTP interface; 0 takes any free one and logs it.',
    }),
    address: Type.String({ minLength: 1, default: '0.0.0.0', description: 'Address the HTTP interface listens on.' }),
  },
  { ...closed, default: {} },
);

const sasl = Type.Object(
  {
    mechanism: Type.Enum(['plain', 'scram-sha-256', 'scram-sha-512'], {
      description: 'How the password is proved; plain sends it, so it wants kafka.ssl.',
    }),
    username: Type.String({ minLength: 1, description: 'User at the brokers.' }),
    password: Type.String({ minLength: 1, description: "The user's password.", [SECRET]: true }),
  },
  { ...closed, description: 'SASL authentication with the brokers; left out: none.' },
);

const kafka = Type.Object(
  {
    brokers: Type.Array(Type.String({ pattern: '^[^\\s:,/]+:[0-9]{1,5}$', [ALLOWED]: 'host:port' }), {
      minItems: 1,
      description: 'Bootstrap brokers, each as host:port.',
    }),
    topics: Type.Array(Type.String({ pattern: TOPIC_PATTERN, [ALLOWED]: TOPIC_ALLOWED }), {
      minItems: 1,
      uniqueItems: true,
      description: 'Topics to read; each has to exist.',
    }),
    groupId: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Consumer group; with topic and partition it names the stored position.',
    }),
    clientId: Type.String({
      minLength: 1,
      default: PRODUCT_NAME,
      description: "Name of this client in the brokers' logs and quotas.",
    }),
    sessionTimeout: duration('10s', 'Silence after which the group gives the partitions of a member to others.'),
    ssl: Type.Boolean({
      default: false,
      description: "TLS to the brokers, verified against the system's certificate authorities.",
    }),
    sasl: Type.Optional(sasl),
  },
  { ...closed, default: {} },
);

const database = Type.Object(
  {
    url: Type.String({
      pattern: '^postgres(ql)?://',
      description: 'Where PostgreSQL is; libpq parameters such as ?sslmode=verify-full are understood.',
      [ALLOWED]: 'postgresql://user:password@host:port/database',
      [SECRET]: 'url',
    }),
    user: Type.Optional(Type.String({ minLength: 1, description: "Role to log in as; left out: the URL's." })),
    password: Type.Optional(
      Type.String({ minLength: 1, description: "The role's password; left out: the URL's.", [SECRET]: true }),
    ),
    schema: Type.String({
      pattern: '^[a-z_][a-z0-9_]{0,62}$',
      [ALLOWED]: 'a lower-case identifier: 1 to 63 letters, digits and underscores, no digit first',
      default: 'stream_consumer',
      description: 'Schema of the tables; created, with them, when absent.',
    }),
    poolSize: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 4,
      description: 'Connections for writing: as many transactions run at once.',
    }),
    connectTimeout: duration('5s', 'Time to wait for a connection.'),
    statementTimeout: duration('30s', 'Time after which PostgreSQL gives up a statement of ours.'),
  },
  { ...closed, default: {} },
);

const consumer = Type.Object(
  {
    startFrom: Type.Enum(['earliest', 'latest', 'committed'], {
      default: 'earliest',
      description:
        "Where a topic without a stored position starts: its beginning, its end, or Kafka's committed offset (the beginning where there is none). Partitions added later always start at their beginning.",
    }),
    onGap: Type.Enum(['fail', 'skip'], {
      default: 'fail',
      description:
        'What to do when records were deleted before they were read: stop and say which, or record the gap in the table gaps and go on.',
    }),
    stallTimeout: duration(
      '5m',
      'Time without progress on a partition that has lag after which the health is DOWN. An outage of Kafka or PostgreSQL is not a stall.',
    ),
    maxValueBytes: Type.Integer({
      minimum: 1,
      maximum: 268_435_455,
      default: 8_388_608,
      description: 'Largest value that goes into records; a larger one is a dead letter.',
    }),
    maxQueuedBytes: Type.Integer({
      minimum: 65_536,
      maximum: 1_073_741_824,
      default: 2_097_152,
      description: 'Fetched bytes that may wait for PostgreSQL, per partition; beyond it the partition is paused.',
    }),
    maxBatchRecords: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 5_000,
      description: 'Records that one transaction writes at most.',
    }),
  },
  { ...closed, default: {} },
);

const deadLetters = Type.Object(
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
  { ...closed, default: {} },
);

const tags = Type.Unsafe<Record<string, string>>(
  Type.Object(
    {
      application: Type.String({
        minLength: 1,
        default: PRODUCT_NAME,
        description: 'The label application of every series: tells several consumers apart.',
      }),
    },
    {
      ...closed,
      patternProperties: { '^[a-zA-Z_][a-zA-Z0-9_]*$': Type.String() },
      default: {},
      description: 'More labels of every series.',
    },
  ),
);

const records = Type.Object(
  {
    keyEncoding: Type.Enum(['text', 'base64'], {
      default: 'text',
      description:
        'How keys are stored in records.key: as text, where a key that is not text is a dead letter, or all of them as base64.',
    }),
  },
  { ...closed, default: {} },
);

const management = Type.Object(
  {
    health: Type.Object(
      {
        kafka: Type.Object(
          {
            inRoot: Type.Boolean({
              default: false,
              description:
                'Whether an outage of Kafka makes /actuator/health DOWN. Both probes ask it, and a restart brings no broker back.',
            }),
          },
          { ...closed, default: {} },
        ),
        diskspace: Type.Object(
          {
            path: Type.String({ minLength: 1, default: '.', description: 'Folder whose file system is watched.' }),
            threshold: Type.Integer({
              minimum: 0,
              default: 10_485_760,
              description: 'Free bytes below which diskSpace is DOWN.',
            }),
          },
          { ...closed, default: {} },
        ),
      },
      { ...closed, default: {} },
    ),
    metrics: Type.Object(
      {
        tags,
      },
      { ...closed, default: {} },
    ),
  },
  { ...closed, default: {} },
);

/**
 * The application's configuration: the one schema from which the types, the defaults, the published JSON Schema, the
 * environment variables' names and the check at start and at synth all come.
 */
export const SettingsSchema = Type.Object(
  {
    server,
    kafka,
    database,
    consumer,
    records,
    deadLetters,
    shutdown: Type.Object(
      {
        timeout: duration(
          '25s',
          'Time to drain in after SIGTERM; what is not written by then stays ahead of the stored offset.',
        ),
      },
      { ...closed, default: {} },
    ),
    logging: Type.Object(
      {
        level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
          default: 'info',
          description: 'Least severe level that is logged.',
        }),
      },
      { ...closed, default: {} },
    ),
    management,
  },
  {
    ...closed,
    $id: 'https://stream-consumer.dev/schemas/application.schema.json',
    title: 'application.yml of stream-consumer',
  },
);

/** Settings after defaults were filled in: complete, and safe to read without further checks. */
export type Settings = Static<typeof SettingsSchema>;
