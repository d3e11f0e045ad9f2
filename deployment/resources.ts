import { Type } from 'typebox';
import { ALLOWED } from '../settings/schema.ts';
import { section } from '../settings/section.ts';
import { MEMORY_SIZE_PATTERN } from './memory-size.ts';

const cpu = (fallback: string, description: string) =>
  Type.String({
    pattern: '^([1-9][0-9]*m|[1-9][0-9]*(\\.[0-9]{1,3})?|0\\.[0-9]{1,3})$',
    default: fallback,
    description,
    [ALLOWED]: "an amount of CPU in quotes, such as '250m' or '1'",
  });

const memorySize = {
  pattern: MEMORY_SIZE_PATTERN,
  [ALLOWED]: 'a size such as 256Mi or 1Gi',
};

/** What a Pod may use. */
export const resources = Type.Object(
  {
    requests: Type.Object(
      {
        cpu: cpu('100m', 'CPU that the scheduler sets aside for a Pod.'),
        memory: Type.Optional(
          Type.String({ ...memorySize, description: "Memory that the scheduler sets aside; left out: the limit's." }),
        ),
      },
      { ...section, description: 'What the scheduler sets aside for a Pod.' },
    ),
    limits: Type.Object(
      {
        cpu: cpu('1', 'CPU beyond which a Pod is slowed down; the consumer runs JavaScript on one core.'),
        memory: Type.String({
          ...memorySize,
          default: '512Mi',
          description: "Memory beyond which a Pod is killed; V8's heap and the memory alerts are computed from it.",
        }),
      },
      { ...section, description: 'What a Pod may use at most.' },
    ),
  },
  { ...section, description: 'What a Pod may use.' },
);
