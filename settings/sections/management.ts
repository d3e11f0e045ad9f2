import { type Static, Type } from 'typebox';
import {
  ACTUATOR_BASE_PATH,
  ACTUATOR_ENDPOINT_IDS,
  type ActuatorEndpointId,
  isExposed,
} from '../../contract/actuator.ts';
import { PRODUCT_NAME } from '../../contract/identity.ts';
import { METRICS } from '../../contract/metrics.ts';
import type { Rule } from '../schema/check.ts';
import { dataSize } from '../schema/data-size.ts';
import { ALLOWED, closed, SECRET, section } from '../schema/schema.ts';
import { endpointHealth } from './health.ts';

/** A separate place for the operational interface, as Spring Boot calls it. */
const managementServer = Type.Object(
  {
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        description:
          'Port of the operational HTTP interface instead of server.port, where nothing listens then. Left out: server.port.',
      }),
    ),
    address: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Address the HTTP interface listens on instead of server.address. Left out: server.address.',
      }),
    ),
  },
  section,
);

const endpointIds = (fallback: readonly string[], description: string) =>
  Type.Array(Type.Enum([...ACTUATOR_ENDPOINT_IDS, '*']), { default: [...fallback], description });

const exposure = Type.Object(
  {
    include: endpointIds(
      ['*'],
      'Endpoints that answer; * is all of them. Any other is 404 and in no link. Probes and health check ask health.',
    ),
    exclude: endpointIds([], 'Endpoints that do not answer although they are included; * is all of them.'),
  },
  { ...section, description: 'Which endpoints answer.' },
);

/** Which endpoints there are, and where they are found. */
const managementEndpoints = Type.Object(
  {
    web: Type.Object(
      {
        'base-path': Type.String({
          pattern: '^(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)*/?$',
          [ALLOWED]: 'an empty text, or segments of letters, digits and . _ ~ - that each begin with a slash',
          default: ACTUATOR_BASE_PATH,
          description:
            'Path that all endpoints begin with; a slash at its end is cut, and empty serves them at the root.',
        }),
        exposure,
        discovery: Type.Object(
          {
            enabled: Type.Boolean({
              default: true,
              description: 'Whether the base path answers with links to the endpoints.',
            }),
          },
          { ...section, description: 'The list of endpoints.' },
        ),
      },
      { ...section, description: 'The endpoints as a web API.' },
    ),
  },
  { ...section, description: 'Which endpoints there are, and where they are found.' },
);

const part = (description: string) =>
  Type.Object(
    { enabled: Type.Boolean({ default: false, description }) },
    { ...section, description: 'An optional part of /actuator/info.' },
  );

/** Which optional parts `/actuator/info` has. */
const managementInfo = Type.Object(
  {
    os: part('Whether /actuator/info names the operating system.'),
    process: part('Whether /actuator/info contains the process: its number, owner, processors and memory.'),
  },
  { ...section, description: 'Which optional parts /actuator/info has.' },
);

const tags = Type.Unsafe<Record<string, string>>(
  Type.Object(
    {
      application: Type.String({
        minLength: 1,
        default: PRODUCT_NAME,
        description: 'The label application of every series, which distinguishes several consumers.',
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

/** What every metric carries. */
const managementMetrics = Type.Object({ tags }, { ...section, description: 'How metrics are exported.' });

/** What the health components look at. */
const managementHealth = Type.Object(
  {
    kafka: Type.Object(
      {
        'in-root': Type.Boolean({
          default: false,
          description:
            'Whether an outage of Kafka makes /actuator/health DOWN. Both probes ask it, and a restart brings no broker back.',
        }),
      },
      { ...section, description: 'The component kafka of the health report.' },
    ),
    diskspace: Type.Object(
      {
        path: Type.String({ minLength: 1, default: '.', description: 'Folder whose file system is watched.' }),
        threshold: dataSize('10MB', 'Free space below which diskSpace is DOWN.'),
      },
      { ...section, description: 'The component diskSpace of the health report.' },
    ),
  },
  { ...section, description: 'What the health report holds.' },
);

/** The page for browsers. */
const managementPage = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        'Whether / answers browsers with a page: state, lag, rates, dead letters, and what waits. It shows no more than management.endpoint.health.show-details.',
    }),
  },
  { ...section, description: 'The page for browsers.' },
);

/** Who may read more of the operational interface than the status of the health. */
const managementSecurity = Type.Object(
  {
    token: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._~+/-]+=*$',
        [ALLOWED]: 'letters, digits and . _ ~ + / -, with = at the end only',
        description: 'Token that clients send as Authorization: Bearer. Left out: none is accepted.',
        [SECRET]: true,
      }),
    ),
    username: Type.Optional(
      Type.String({
        pattern: '^[^\\u0000-\\u001f\\u007f:]+$',
        [ALLOWED]: 'any text without a colon or a control character',
        description: 'User that clients send as Authorization: Basic; wants a password. Left out: none is accepted.',
        [SECRET]: true,
      }),
    ),
    password: Type.Optional(
      Type.String({ minLength: 1, description: "That user's password; wants a username.", [SECRET]: true }),
    ),
  },
  section,
);

/** What the operational interface answers, with the names that Spring Boot Actuator has for it. */
export const management = Type.Object(
  {
    server: managementServer,
    endpoints: managementEndpoints,
    security: managementSecurity,
    endpoint: Type.Object({ health: endpointHealth }, { ...section, description: 'How single endpoints answer.' }),
    health: managementHealth,
    info: managementInfo,
    metrics: managementMetrics,
    page: managementPage,
  },
  { ...section, description: 'What the operational interface shows.' },
);

/** The section in the settings. */
export interface ManagementPart {
  readonly management: Static<typeof management>;
}

/** The endpoints that answer: those that `management.endpoints.web.exposure` includes and does not exclude. */
export const exposedEndpoints = ({ management }: ManagementPart): ReadonlySet<ActuatorEndpointId> =>
  new Set(ACTUATOR_ENDPOINT_IDS.filter((id) => isExposed(id, management.endpoints.web.exposure)));

interface Credential {
  readonly username?: string;
  readonly password?: string;
}

/** A user without a password, or the other way round, is a mistake and not a choice. */
export const completeCredential = <T>(path: string, read: (settings: T) => Credential): Rule<T> => ({
  reads: [`${path}.username`, `${path}.password`],
  find: (settings) => {
    const { username, password } = read(settings);
    if ((username === undefined) === (password === undefined)) {
      return [];
    }
    const [missing, given] = username === undefined ? ['username', 'password'] : ['password', 'username'];
    const message = `is missing beside ${path}.${given}`;
    return [{ path: `${path}.${missing}`, message, allowed: 'both of them, or neither' }];
  },
});

/**
 * Labels that belong to the metrics themselves or to Prometheus: a common one of the same name would hide them. Those
 * of an info are free: it keeps its own, and no other family has a meaning for them.
 */
const RESERVED_LABELS: ReadonlySet<string> = new Set([
  ...Object.values(METRICS).flatMap(({ type, labels }): readonly string[] => (type === 'info' ? [] : labels)),
  'le',
  'quantile',
]);

const tagNames: Rule<ManagementPart> = {
  reads: ['management.metrics.tags[]'],
  find: ({ management }) =>
    Object.keys(management.metrics.tags)
      .filter((name) => RESERVED_LABELS.has(name) || name.startsWith('__'))
      .map((name) => ({
        path: `management.metrics.tags.${name}`,
        message: 'is the name of a label that has a meaning already',
        allowed: `any name but ${[...RESERVED_LABELS].join(', ')} and those that begin with __`,
      })),
};

/** What the schema cannot say of labels and credentials. */
export const MANAGEMENT_RULES: readonly Rule<ManagementPart>[] = [
  tagNames,
  completeCredential('management.security', ({ management }) => management.security),
];
