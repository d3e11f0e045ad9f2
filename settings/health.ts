import { type Static, Type } from 'typebox';
import { HEALTH_COMPONENTS } from './health-components.ts';
import { ALLOWED } from './schema.ts';
import { closed, section } from './section.ts';

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
export type HealthGroupSettings = Static<typeof group>;

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
