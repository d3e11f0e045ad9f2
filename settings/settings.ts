import { type Static, Type } from 'typebox';
import { METRICS } from '../contract/metrics.ts';
import { type Checked, checkAgainst, type Rule } from './check.ts';
import { consumer } from './consumer.ts';
import { database } from './database.ts';
import { DATABASE_URL_RULES } from './database-url.ts';
import { deadLetters, deadLetterTopic } from './dead-letters.ts';
import { duration, milliseconds } from './duration.ts';
import { HEALTH_GROUP_RULES } from './health.ts';
import { kafka } from './kafka.ts';
import { management } from './management.ts';
import type { Problem } from './problem.ts';
import { closed, section } from './schema.ts';
import { server } from './server.ts';
import { ACCESS_RULES, spring } from './spring-boot-admin.ts';

/** How records become rows. */
const records = Type.Object(
  {
    keyEncoding: Type.Enum(['text', 'base64'], {
      default: 'text',
      description:
        'How keys are stored in records.key: as text, where a key that is not text is a dead letter, or all of them as base64.',
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

/** Longest time that Node's timers and PostgreSQL's time-outs can hold: 2^31 - 1 milliseconds. */
const LONGEST_MS = 2_147_483_647;

/** Kafka makes a folder of a topic's name and a partition's number. */
const LONGEST_TOPIC = 249;

function durationBetween(
  path: string,
  read: (settings: Settings) => string,
  least: string,
  most: string,
): Rule<Settings> {
  return {
    reads: [path],
    find: (settings) => {
      const given = read(settings);
      const length = milliseconds(given);
      return length < milliseconds(least) || length > milliseconds(most)
        ? [{ path, message: 'is out of range', given, allowed: `a duration from ${least} to ${most}` }]
        : [];
    },
  };
}

const brokerPorts: Rule<Settings> = {
  reads: ['kafka.brokers'],
  find: ({ kafka }) =>
    kafka.brokers.flatMap((given, index): Problem[] => {
      const port = Number(given.slice(given.lastIndexOf(':') + 1));
      return port >= 1 && port <= 65_535
        ? []
        : [
            {
              path: `kafka.brokers[${index}]`,
              message: 'has a port that does not exist',
              given,
              allowed: 'host:port with a port from 1 to 65535',
            },
          ];
    }),
};

const topicNames: Rule<Settings> = {
  reads: ['kafka.topics'],
  find: ({ kafka }) =>
    kafka.topics.flatMap((given, index): Problem[] =>
      given === '.' || given === '..'
        ? [
            {
              path: `kafka.topics[${index}]`,
              message: 'is not a name Kafka allows',
              given,
              allowed: 'any name but . and ..',
            },
          ]
        : [],
    ),
};

/** Dead letters that come back as records would go round for ever; names that Kafka cannot have would stop the first one. */
const deadLetterTopics: Rule<Settings> = {
  reads: ['deadLetters', 'kafka.topics'],
  find: ({ deadLetters, kafka }) => {
    if (deadLetters.to === 'table') {
      return [];
    }
    const path = 'deadLetters.topic';
    const names = new Set(kafka.topics.map((topic) => deadLetterTopic(deadLetters, topic)));
    return [...names].flatMap((given): Problem[] => {
      if (kafka.topics.includes(given)) {
        return [{ path, message: 'is a topic that is read', given, allowed: 'any topic that is not in kafka.topics' }];
      }
      const isName = given.length <= LONGEST_TOPIC && given !== '.' && given !== '..';
      const allowed = `a name of at most ${LONGEST_TOPIC} characters, other than . and ..`;
      return isName ? [] : [{ path, message: 'is not a name Kafka allows', given, allowed }];
    });
  },
};

const adminUrls: Rule<Settings> = {
  reads: ['spring.boot.admin.client.url'],
  find: ({ spring }) =>
    spring.boot.admin.client.url.flatMap((given, index): Problem[] =>
      URL.canParse(given)
        ? []
        : [
            {
              path: `spring.boot.admin.client.url[${index}]`,
              message: 'is not a URL',
              given,
              allowed: 'an http or https URL with a host and a port that exist',
            },
          ],
    ),
};

/** Labels that belong to the metrics themselves or to Prometheus: a common one of the same name would hide them. */
const RESERVED_LABELS: ReadonlySet<string> = new Set([
  ...Object.values(METRICS).flatMap(({ labels }): readonly string[] => labels),
  'le',
  'quantile',
]);

const tagNames: Rule<Settings> = {
  reads: ['management.metrics.tags'],
  find: ({ management }) =>
    Object.keys(management.metrics.tags)
      .filter((name) => RESERVED_LABELS.has(name) || name.startsWith('__'))
      .map((name) => ({
        path: `management.metrics.tags.${name}`,
        message: 'is the name of a label with a meaning of its own',
        allowed: `any name but ${[...RESERVED_LABELS].join(', ')} and those that begin with __`,
      })),
};

/** Conditions on the application's settings beyond its schema. */
const SETTINGS_RULES: readonly Rule<Settings>[] = [
  brokerPorts,
  topicNames,
  deadLetterTopics,
  ...DATABASE_URL_RULES,
  adminUrls,
  tagNames,
  ...ACCESS_RULES,
  ...HEALTH_GROUP_RULES,
  // The range in which brokers accept a session timeout unless they are configured otherwise.
  durationBetween('kafka.sessionTimeout', ({ kafka }) => kafka.sessionTimeout, '6s', '30m'),
  // PostgreSQL and its client take 0 for "wait for ever", which nobody who writes a time-out of 0 means.
  durationBetween('database.connectTimeout', ({ database }) => database.connectTimeout, '1ms', `${LONGEST_MS}ms`),
  durationBetween('database.statementTimeout', ({ database }) => database.statementTimeout, '1ms', `${LONGEST_MS}ms`),
  durationBetween('shutdown.timeout', ({ shutdown }) => shutdown.timeout, '1ms', `${LONGEST_MS}ms`),
];

/**
 * Checks the application's settings, given with the schema's own key names, and fills in the defaults. The consumer does
 * this at its start and synth does it with what goes into the ConfigMap, so both refuse the same things.
 *
 * @param rules further ones, of what only the process itself can see, such as files. @default none
 * @returns the complete, deeply frozen settings, or all problems at once.
 */
export function checkSettings(input: unknown, rules: readonly Rule<Settings>[] = []): Checked<Settings> {
  return checkAgainst(SettingsSchema, input, [...SETTINGS_RULES, ...rules]);
}
