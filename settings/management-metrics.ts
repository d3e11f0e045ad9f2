import { Type } from 'typebox';
import { PRODUCT_NAME } from '../contract/identity.ts';
import { closed, section } from './section.ts';

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

/** What every metric carries. */
export const managementMetrics = Type.Object({ tags }, { ...section, description: 'How metrics are exported.' });
