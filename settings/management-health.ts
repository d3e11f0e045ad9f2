import { Type } from 'typebox';
import { section } from './section.ts';

/** What the health components look at. */
export const managementHealth = Type.Object(
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
);
