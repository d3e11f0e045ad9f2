import { Type } from 'typebox';
import { ACTUATOR_BASE_PATH } from '../contract/actuator.ts';
import { ACTUATOR_ENDPOINT_IDS } from '../contract/actuator-endpoints.ts';
import { ALLOWED } from './schema.ts';
import { section } from './section.ts';

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
export const managementEndpoints = Type.Object(
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
