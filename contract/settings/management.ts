import { Type } from 'typebox';
import { PRODUCT_NAME } from '../identity.ts';
import { closed, section } from '../section.ts';
import { managementEndpoints } from './management-endpoints.ts';
import { managementSecurity } from './management-security.ts';
import { managementServer } from './management-server.ts';

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

/** What the operational interface shows. */
export const management = Type.Object(
  {
    server: managementServer,
    endpoints: managementEndpoints,
    security: managementSecurity,
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
          { ...section, description: 'The component kafka of the health report.' },
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
          { ...section, description: 'The component diskSpace of the health report.' },
        ),
      },
      { ...section, description: 'What the health report holds.' },
    ),
    metrics: Type.Object(
      {
        tags,
      },
      { ...section, description: 'How metrics are exported.' },
    ),
  },
  { ...section, description: 'What the operational interface shows.' },
);
