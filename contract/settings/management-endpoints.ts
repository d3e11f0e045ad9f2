import { Type } from 'typebox';
import { ACTUATOR_BASE_PATH } from '../actuator.ts';
import { ALLOWED } from '../schema-node.ts';
import { section } from '../section.ts';

/** Where the endpoints are found. */
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
      },
      section,
    ),
  },
  section,
);
