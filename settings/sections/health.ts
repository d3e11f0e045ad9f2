import { type Static, Type } from 'typebox';
import { HEALTH_GROUP } from '../../contract/actuator.ts';
import type { Rule } from '../schema/check.ts';
import type { Problem } from '../schema/problem.ts';
import { ALLOWED, closed, section } from '../schema/schema.ts';
import { shownKey } from '../schema/shown-value.ts';
import type { SchemaRegistryPart } from './schema-registry.ts';

/** Names of the health components, as the report and a group's members call them. */
export const HEALTH_COMPONENTS = [
  'consumer',
  'db',
  'diskSpace',
  'kafka',
  'livenessState',
  'ping',
  'readinessState',
  'schemaRegistry',
] as const;

/** Name of a health component. */
type HealthComponentName = (typeof HEALTH_COMPONENTS)[number];

/** Components that exist only while `management.endpoint.health.probes.enabled` is true. */
export const PROBE_COMPONENTS: readonly HealthComponentName[] = ['livenessState', 'readinessState'];

const SHOW = ['never', 'when-authorized', 'always'] as const;

const httpStatus = (status: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 200,
      maximum: 599,
      description: `HTTP status of an answer whose health is ${status}. Left out: 200.`,
    }),
  );

const status = Type.Object(
  {
    order: Type.Optional(
      Type.Array(Type.Enum(['down', 'out-of-service', 'up', 'unknown']), {
        minItems: 1,
        description:
          'Statuses, the most severe first: of several components the first one here is the status of all. A status that is left out counts for nothing. Left out: down, out-of-service, up, unknown.',
      }),
    ),
    'http-mapping': Type.Optional(
      Type.Object(
        {
          down: httpStatus('DOWN'),
          'out-of-service': httpStatus('OUT_OF_SERVICE'),
          up: httpStatus('UP'),
          unknown: httpStatus('UNKNOWN'),
        },
        {
          ...closed,
          description:
            'HTTP status of each health status. Left out: 503 for down and out-of-service, 200 for the others.',
        },
      ),
    ),
  },
  { ...section, description: 'How statuses are ordered and mapped; in a group, what is left out is as in the whole.' },
);

const members = (description: string) =>
  Type.Array(Type.Enum([...HEALTH_COMPONENTS, '*']), { default: [], description });

const group = Type.Object(
  {
    include: members('Components of the group; * or an empty list is all of them.'),
    exclude: members('Components that are not in the group although they are included; * is all of them.'),
    'show-details': Type.Optional(
      Type.Enum(SHOW, { description: 'Whether the group shows details. Left out: as the whole.' }),
    ),
    'show-components': Type.Optional(
      Type.Enum(SHOW, { description: 'Whether the group shows components. Left out: as the whole.' }),
    ),
    'additional-path': Type.Optional(
      Type.String({
        pattern: '^(server|management):/[^/?#{}*\\s]+$',
        [ALLOWED]: 'server: or management: and a path of one segment, such as server:/healthz',
        description: 'Another path that answers for the group. Left out: none.',
      }),
    ),
    status,
  },
  { ...closed, description: 'A group of health components.' },
);

/** One group of health components, as a user configures it. */
type HealthGroupSettings = Static<typeof group>;

/** How `/actuator/health` answers. */
export const endpointHealth = Type.Object(
  {
    'show-details': Type.Enum(SHOW, {
      default: 'always',
      description:
        'Whether components show their details: never, always, or when-authorized, to who shows the credential of management.security.',
    }),
    'show-components': Type.Optional(
      Type.Enum(SHOW, {
        description:
          'Whether the components are shown, and answer at their own paths. Left out: as management.endpoint.health.show-details.',
      }),
    ),
    status,
    group: Type.Unsafe<Record<string, HealthGroupSettings>>(
      Type.Object(
        {},
        {
          ...closed,
          patternProperties: { '^[a-zA-Z0-9_-]+$': group },
          default: {},
          description: 'Groups of components by name; each answers below /actuator/health.',
        },
      ),
    ),
    probes: Type.Object(
      {
        enabled: Type.Boolean({
          default: true,
          description:
            'Whether there are the components livenessState and readinessState and the groups liveness and readiness.',
        }),
        'add-additional-paths': Type.Boolean({
          default: false,
          description: 'Whether the two groups also answer at /livez and /readyz.',
        }),
      },
      { ...section, description: 'What Kubernetes asks for.' },
    ),
  },
  { ...section, description: 'How the health answers.' },
);

interface HealthPart extends SchemaRegistryPart {
  readonly management: { readonly endpoint: { readonly health: Static<typeof endpointHealth> } };
}

/** A path beside the base path that answers for a health group. */
export interface AdditionalHealthPath {
  readonly path: string;
  readonly group: string;
}

/** The path behind the `server:` or `management:` of a group's `additional-path`. */
const pathOf = (additionalPath: string): string => additionalPath.slice(additionalPath.indexOf(':') + 1);

/** Every path that answers for a health group beside the one below `/actuator/health`; there are none by default. */
export function additionalHealthPaths({ management }: HealthPart): readonly AdditionalHealthPath[] {
  const { group, probes } = management.endpoint.health;
  const configured = Object.entries(group).flatMap(([name, { 'additional-path': additionalPath }]) =>
    additionalPath === undefined ? [] : [{ path: pathOf(additionalPath), group: name }],
  );
  const ofProbes =
    probes.enabled && probes['add-additional-paths']
      ? [
          { path: '/livez', group: HEALTH_GROUP.liveness },
          { path: '/readyz', group: HEALTH_GROUP.readiness },
        ]
      : [];
  // As in Spring Boot, a group's path replaces that of the probe.
  return [...configured, ...ofProbes.filter(({ group: name }) => !configured.some((own) => own.group === name))];
}

const GROUPS = 'management.endpoint.health.group';
const PROBES = 'management.endpoint.health.probes.enabled';

/** Members of groups that these components are, as a group that waits for one that does not exist is wrong for ever. */
function membersOf(
  { management }: HealthPart,
  missing: readonly HealthComponentName[],
  reason: string,
): readonly Problem[] {
  const known = HEALTH_COMPONENTS.filter((name) => !missing.includes(name));
  return Object.entries(management.endpoint.health.group).flatMap(([name, { include, exclude }]) =>
    Object.entries({ include, exclude }).flatMap(([list, members]) =>
      members.flatMap((given, index): Problem[] => {
        const path = `${GROUPS}.${name}.${list}[${index}]`;
        const message = `is a component that is not there, because ${reason}`;
        return missing.some((absent) => absent === given)
          ? [{ path, message, given, allowed: `one of ${known.join(', ')}, *` }]
          : [];
      }),
    ),
  );
}

const probesExist: Rule<HealthPart> = {
  reads: [`${GROUPS}[]`, PROBES],
  find: (settings) =>
    settings.management.endpoint.health.probes.enabled
      ? []
      : membersOf(settings, PROBE_COMPONENTS, `${PROBES} is false`),
};

const registryExists: Rule<HealthPart> = {
  reads: [`${GROUPS}[]`, 'schemaRegistry'],
  find: (settings) =>
    settings.schemaRegistry === undefined ? membersOf(settings, ['schemaRegistry'], 'schemaRegistry is left out') : [],
};

/** Two groups cannot answer at one path. */
const additionalPathsDiffer: Rule<HealthPart> = {
  reads: [`${GROUPS}[]`],
  find: ({ management }) => {
    const seen = new Map<string, string>();
    return Object.entries(management.endpoint.health.group).flatMap(([name, group]): Problem[] => {
      const given = group['additional-path'];
      const path = given === undefined ? undefined : pathOf(given);
      const other = path === undefined ? undefined : seen.get(path);
      seen.set(path ?? '', name);
      return other === undefined
        ? []
        : [
            {
              path: `${GROUPS}.${name}.additional-path`,
              message: `is already the path of the group ${shownKey(other)}`,
              given,
              allowed: 'another path',
            },
          ];
    });
  },
};

/** What must fit together in the health groups that a user configures. */
export const HEALTH_GROUP_RULES: readonly Rule<HealthPart>[] = [probesExist, registryExists, additionalPathsDiffer];
