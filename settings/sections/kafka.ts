import { type Static, Type } from 'typebox';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import type { Rule } from '../schema/check.ts';
import { duration, durationBetween } from '../schema/duration.ts';
import { type Problem, problemIf } from '../schema/problem.ts';
import { ALLOWED, closed, SECRET, section } from '../schema/schema.ts';
import { SASL_RULES, sasl } from './kafka-sasl.ts';

/** What Kafka takes as a topic's name. */
export const TOPIC_PATTERN = '^[a-zA-Z0-9._-]{1,249}$';

/** The same in words. */
export const TOPIC_ALLOWED = "a topic's name: 1 to 249 letters, digits, dots, underscores and dashes";

/** The same with names in braces, of which rules say where they may be. */
export const TOPICS_PATTERN = '^[a-zA-Z0-9._{}-]{1,249}$';

/** The same in words. */
export const TOPICS_ALLOWED = `${TOPIC_ALLOWED}; or a template of it, such as shop.{schema}.{table}`;

/** What Kafka takes as a member's instance id, in words; it is the same as for topics. */
const INSTANCE_ID_ALLOWED = '1 to 249 letters, digits, dots, underscores and dashes, not . or ..';

const pem = (what: string): string => `${what}: the path of a PEM file, or the PEM text itself.`;

/**
 * What a client has for TLS.
 *
 * @param peer whom it connects to, in words
 * @param serverName what the name of a certificate is for
 */
export const tlsProperties = (peer: string, serverName: string) => ({
  ca: Type.Optional(
    Type.String({
      minLength: 1,
      description: `${pem(`Authorities to trust for the ${peer} certificates`)} Left out: those of Node.js.`,
    }),
  ),
  certificate: Type.Optional(
    Type.String({
      minLength: 1,
      description: `${pem("The client's certificate, followed by those of its intermediate authorities")} Left out: none.`,
    }),
  ),
  privateKey: Type.Optional(
    Type.String({
      minLength: 1,
      description: `${pem("The client certificate's private key, not encrypted")} Left out: none.`,
      [SECRET]: true,
    }),
  ),
  serverName: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._-]*[A-Za-z][A-Za-z0-9._-]*$',
      [ALLOWED]: "a host's name, not an address",
      description: serverName,
    }),
  ),
});

const tls = Type.Object(
  {
    ...tlsProperties(
      "brokers'",
      "Name that every broker's certificate has to hold, and that is asked for (SNI), in place of the broker's host. Left out: the host.",
    ),
    verifyHostName: Type.Boolean({
      default: true,
      description:
        "Whether a broker's certificate has to name its host. false: any certificate of a trusted authority will do, so whoever has one can pose as a broker.",
    }),
  },
  {
    ...closed,
    description:
      'Certificates for TLS to the brokers; the files are read anew at each connection. Left out: the authorities of Node.js, and no client certificate.',
  },
);

/** By which protocol a group is joined: the members' own, or the brokers' (KIP-848). */
export const GROUP_PROTOCOLS = ['classic', 'consumer'] as const;

/** The most that `kafka.fetchLinger` may be, and the most that many topics make of it. */
export const MOST_LINGER = '1s';

/** How Kafka is reached and what is read from it. */
export const kafka = Type.Object(
  {
    brokers: Type.Array(Type.String({ pattern: '^[^\\s:,/@]+:[0-9]{1,5}$', [ALLOWED]: 'host:port' }), {
      minItems: 1,
      description: 'Bootstrap brokers, each as host:port.',
    }),
    topics: Type.Array(Type.String({ pattern: TOPICS_PATTERN, [ALLOWED]: TOPICS_ALLOWED }), {
      default: [],
      uniqueItems: true,
      description:
        'Topics, or templates such as shop.{schema}.{table}, whose records go into the table records; a name has to exist. Left out: those of tables are the only ones that are read.',
    }),
    groupId: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Consumer group; with topic and partition it names the stored position.',
    }),
    groupProtocol: Type.Enum([...GROUP_PROTOCOLS], {
      default: 'classic',
      description:
        'How the process joins the group. consumer: by KIP-848, where brokers assign the partitions and decide when a silent member is gone (45 s by default); by classic where they lack it (before Kafka 4.0).',
    }),
    groupInstanceId: Type.Optional(
      Type.String({
        pattern: TOPIC_PATTERN,
        [ALLOWED]: INSTANCE_ID_ALLOWED,
        description:
          'Name of this process in the group, unique there. Killed and started again under it, the process takes its place at once. Left out: after the session time-out; manifests set the uid of the Pod.',
      }),
    ),
    clientId: Type.String({
      minLength: 1,
      default: PRODUCT_NAME,
      description: "Name of this client in the brokers' logs and quotas.",
    }),
    sessionTimeout: duration(
      '10s',
      'Silence after which the group gives the partitions of a member to others, with kafka.groupProtocol: classic.',
    ),
    topicRefresh: duration(
      '30s',
      'How often the cluster is asked for topics that templates of kafka.topics and tables take. From 1s to 5m.',
    ),
    fetchMinBytes: Type.Integer({
      minimum: 1,
      maximum: 52_428_800,
      default: 1,
      description:
        "Bytes that a broker gathers before it answers a fetch, as fetch.min.bytes of Kafka's consumer. More make larger transactions, and records wait for each other, kafka.fetchMaxWait at most.",
    }),
    fetchMaxWait: duration(
      '1s',
      "How long a broker waits for kafka.fetchMinBytes, as fetch.max.wait.ms of Kafka's consumer. A partition that moves may wait for as long. From 10ms to 5s.",
    ),
    fetchLinger: duration(
      '100ms',
      `Least time between two fetches from a broker whose logs are read to their ends: records of a steady load gather. Each further topic of an answer adds a fortieth, up to ${MOST_LINGER}. From 0ms to ${MOST_LINGER}.`,
    ),
    ssl: Type.Boolean({
      default: false,
      description: 'TLS to the brokers; their certificates have to be trusted and to name their hosts.',
    }),
    credentialsFrom: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Where the credentials and certificates come from, named where a broker refuses them; the manifests write the Secret and its keys. Left out: nothing is named.',
      }),
    ),
    tls: Type.Optional(tls),
    sasl: Type.Optional(sasl),
  },
  { ...section, description: 'How Kafka is reached and what is read from it.' },
);

/** The section in the settings. */
export interface KafkaPart {
  readonly kafka: Static<typeof kafka>;
}

const brokerPorts: Rule<KafkaPart> = {
  reads: ['kafka.brokers[]'],
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

/** The problem of a name that fits the pattern and is none for Kafka. */
export const forbiddenTopic = (path: string, given: string): readonly Problem[] =>
  problemIf(given === '.' || given === '..', {
    path,
    message: 'is not a name Kafka allows',
    given,
    allowed: 'any name but . and ..',
  });

const instanceId: Rule<KafkaPart> = {
  reads: ['kafka.groupInstanceId'],
  find: ({ kafka: { groupInstanceId = '' } }) => forbiddenTopic('kafka.groupInstanceId', groupInstanceId),
};

const topicNames: Rule<KafkaPart> = {
  reads: ['kafka.topics[]'],
  find: ({ kafka }) => kafka.topics.flatMap((given, index) => forbiddenTopic(`kafka.topics[${index}]`, given)),
};

const tlsIsUsed: Rule<KafkaPart> = {
  reads: ['kafka.ssl', 'kafka.tls'],
  find: ({ kafka: { ssl, tls } }) =>
    problemIf(tls !== undefined && !ssl, {
      path: 'kafka.tls',
      message: 'is set, but the connections to the brokers are not encrypted',
      allowed: 'only beside kafka.ssl: true',
    }),
};

/** Neither of a client certificate and its key is of use without the other. */
export const certificateHasKey = <T>(
  path: string,
  read: (settings: T) => { readonly certificate?: string; readonly privateKey?: string } | undefined,
): Rule<T> => ({
  reads: [`${path}.certificate`, `${path}.privateKey`],
  find: (settings) => {
    const { certificate, privateKey } = read(settings) ?? {};
    return [
      ...problemIf(certificate !== undefined && privateKey === undefined, {
        path: `${path}.privateKey`,
        message: 'is missing',
        allowed: `the private key of ${path}.certificate`,
      }),
      ...problemIf(certificate === undefined && privateKey !== undefined, {
        path: `${path}.certificate`,
        message: 'is missing',
        allowed: `the certificate of ${path}.privateKey`,
      }),
    ];
  },
});

/** What the settings allow and a person may not have meant, for the log and for --check. */
export function kafkaWarnings({ ssl, tls, sasl }: KafkaPart['kafka']): readonly string[] {
  return [
    ...(sasl?.mechanism === 'plain' && !ssl
      ? [
          'kafka.sasl.mechanism is plain and kafka.ssl is false: the password crosses the network in clear text; set ' +
            'kafka.ssl: true, or use a scram mechanism',
        ]
      : []),
    ...(sasl?.mechanism === 'oauthbearer' && !ssl
      ? [
          'kafka.sasl.mechanism is oauthbearer and kafka.ssl is false: the token crosses the network in clear text, and ' +
            'whoever reads it can log in with it until it ends; set kafka.ssl: true',
        ]
      : []),
    ...(tls?.verifyHostName === false
      ? [
          'kafka.tls.verifyHostName is false: whoever has any certificate of a trusted authority can pose as a broker; ' +
            'kafka.tls.serverName names the host that the certificates are for',
        ]
      : []),
  ];
}

/** What the schema cannot say of brokers, topics and the group. */
export const KAFKA_RULES: readonly Rule<KafkaPart>[] = [
  brokerPorts,
  instanceId,
  topicNames,
  ...SASL_RULES,
  tlsIsUsed,
  certificateHasKey('kafka.tls', ({ kafka }) => kafka.tls),
  durationBetween('kafka.fetchMaxWait', ({ kafka }) => kafka.fetchMaxWait, '10ms', '5s'),
  durationBetween('kafka.fetchLinger', ({ kafka }) => kafka.fetchLinger, '0ms', MOST_LINGER),
  durationBetween('kafka.topicRefresh', ({ kafka }) => kafka.topicRefresh, '1s', '5m'),
  // The range in which brokers accept a session timeout unless they are configured otherwise.
  durationBetween('kafka.sessionTimeout', ({ kafka }) => kafka.sessionTimeout, '6s', '30m'),
];
