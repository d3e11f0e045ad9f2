import { type Static, Type } from 'typebox';
import { type Checked, checkAgainst, type Rule } from './schema/check.ts';
import { duration, durationBetween, LONGEST } from './schema/duration.ts';
import { closed, section } from './schema/schema.ts';
import { DATABASE_RULES, database } from './sections/database.ts';
import { DEAD_LETTER_RULES, deadLetters } from './sections/dead-letters.ts';
import { FORMAT_RULES, formats, formatWarnings } from './sections/formats.ts';
import { HEALTH_GROUP_RULES } from './sections/health.ts';
import { KAFKA_RULES, kafka, kafkaWarnings } from './sections/kafka.ts';
import { MANAGEMENT_RULES, management } from './sections/management.ts';
import { registryWarnings, SCHEMA_REGISTRY_RULES, schemaRegistry } from './sections/schema-registry.ts';
import { SPRING_BOOT_ADMIN_RULES, spring } from './sections/spring-boot-admin.ts';
import { TEMPLATE_RULES } from './sections/tables/tables-of-topics.ts';
import { TABLE_RULES, tables } from './sections/tables.ts';

/** TLS of the operational interface, with Spring Boot's names for PEM files. */
const ssl = Type.Object(
  {
    certificate: Type.String({
      minLength: 1,
      description: 'PEM file with the certificate, followed by those of its intermediate authorities.',
    }),
    'certificate-private-key': Type.String({
      minLength: 1,
      description: "PEM file with the certificate's private key, not encrypted.",
    }),
  },
  {
    ...closed,
    description: 'HTTPS for the operational interface; the files are read again when they change. Left out: HTTP.',
  },
);

/** Where the operational interface listens. */
const server = Type.Object(
  {
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 8080,
      description: 'Port of the operational HTTP interface; 0 takes any free one and logs it.',
    }),
    address: Type.String({ minLength: 1, default: '0.0.0.0', description: 'Address the HTTP interface listens on.' }),
    ssl: Type.Optional(ssl),
  },
  { ...section, description: 'Where the operational interface listens.' },
);

/** How the consumer reads, buffers and writes. */
const consumer = Type.Object(
  {
    startFrom: Type.Enum(['earliest', 'latest', 'committed'], {
      default: 'earliest',
      description:
        "Where a topic without a stored position starts: its beginning, its end, or Kafka's committed offset, else its beginning. Partitions added later, or without a leader at first, start at their beginning.",
    }),
    onGap: Type.Enum(['fail', 'skip'], {
      default: 'fail',
      description:
        'What to do when records were deleted before they were read: report which and stop, or let a topic of a template wait; or record the gap in the table gaps and go on.',
    }),
    onBrokenBatch: Type.Enum(['stop', 'skip'], {
      default: 'stop',
      description:
        'At a batch that cannot be read: stop its partition alone and read it again every 10 s; or, if it is the same again and its head is whole, record its offsets in the table gaps and go on behind it.',
    }),
    maxUnpackedBytes: Type.Integer({
      minimum: 65_536,
      maximum: 1_073_741_824,
      default: 67_108_864,
      description:
        'Bytes that a compressed batch may become, as they are counted while it is unpacked; a larger one cannot be read. So much memory has to be free beside an eighth of the limit.',
    }),
    onTopicGone: Type.Enum(['continue', 'stop'], {
      default: 'continue',
      description:
        'What to do when Kafka does not have a topic any more that was read: go on with the others and name it in the health, a metric and an alert, or stop.',
    }),
    stallTimeout: duration(
      '5m',
      'Time after which the health is DOWN while Kafka and PostgreSQL are reachable and yet nothing is written of what waits, nothing is known of a log, or the group is silent.',
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
      description:
        'Fetched bytes that may wait for PostgreSQL, per partition, and that one transaction takes of them; beyond it the partition is paused. Less may wait where many partitions share the memory.',
    }),
    maxBatchRecords: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 5_000,
      description: 'Records that one transaction writes at most.',
    }),
  },
  { ...section, description: 'How records are read and written.' },
);

/** How records become rows. */
const records = Type.Object(
  {
    keyEncoding: Type.Enum(['text', 'base64'], {
      default: 'text',
      description:
        'How keys are stored in records.key: as text, where a key that is not text is a dead letter, or all of them as base64.',
    }),
    onDroppedRows: Type.Enum(['fail', 'allow'], {
      default: 'fail',
      description:
        'When a row trigger of yours on the table records drops rows, which no table has then: stop before COMMIT, or let a topic of a template wait; or commit the others, and log and count the dropped ones.',
    }),
  },
  { ...section, description: 'How records become rows.' },
);

/** What `/actuator/info` shows beside what the consumer knows of itself. */
const info = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    {},
    {
      additionalProperties: Type.Unknown(),
      default: {},
      description: 'Shown by /actuator/info under this name; values are texts, lists of them, or maps.',
    },
  ),
);

/**
 * The application's configuration: the one schema from which the types, the defaults, the published JSON Schema, the
 * environment variables' names and the check at start and at synth all come.
 */
export const SettingsSchema = Type.Object(
  {
    server,
    kafka,
    schemaRegistry: Type.Optional(schemaRegistry),
    database,
    consumer,
    formats,
    records,
    tables,
    deadLetters,
    shutdown: Type.Object(
      {
        timeout: duration(
          '25s',
          'Time to drain in after SIGTERM; what is not written until then stays ahead of the stored offset.',
        ),
      },
      { ...section, description: 'How the process ends.' },
    ),
    logging: Type.Object(
      {
        level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
          default: 'info',
          description: 'Least severe level that is logged.',
        }),
      },
      { ...section, description: 'What is logged.' },
    ),
    management,
    info,
    spring,
  },
  {
    ...closed,
    $id: 'https://stream-consumer.dev/schemas/application.schema.json',
    title: 'application.yml of stream-consumer',
  },
);

/** Settings after defaults were filled in: complete, and safe to read without further checks. */
export type Settings = Static<typeof SettingsSchema>;

/** How the consumer registers at Spring Boot Admin. */
export type AdminClientSettings = Settings['spring']['boot']['admin']['client'];

const shutdownTimeout = durationBetween<Settings>(
  'shutdown.timeout',
  ({ shutdown }) => shutdown.timeout,
  '1ms',
  LONGEST,
);

/** Conditions on the application's settings beyond its schema, by section. */
const SETTINGS_RULES: readonly Rule<Settings>[] = [
  ...KAFKA_RULES,
  ...SCHEMA_REGISTRY_RULES,
  ...TABLE_RULES,
  ...TEMPLATE_RULES,
  ...FORMAT_RULES,
  ...DEAD_LETTER_RULES,
  ...DATABASE_RULES,
  ...MANAGEMENT_RULES,
  ...HEALTH_GROUP_RULES,
  ...SPRING_BOOT_ADMIN_RULES,
  shutdownTimeout,
];

/**
 * Checks the application's settings, given with the schema's own key names, and fills in the defaults. The consumer
 * does this at its start and synth does it with what goes into the ConfigMap, so both refuse the same things.
 *
 * @param rules further ones, of what only the process itself can see, such as files. @default none
 * @returns the complete, deeply frozen settings, or all problems at once.
 */
export function checkSettings(input: unknown, rules: readonly Rule<Settings>[] = []): Checked<Settings> {
  return checkAgainst(SettingsSchema, input, [...SETTINGS_RULES, ...rules]);
}

/** What the settings allow and a person may not have meant, for the log and for --check. */
export const settingsWarnings = (settings: Settings): readonly string[] => [
  ...kafkaWarnings(settings.kafka),
  ...registryWarnings(settings),
  ...formatWarnings(settings),
];
