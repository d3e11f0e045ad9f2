import { Type } from 'typebox';
import { section } from '../settings/section.ts';

/** How the container gets what the Secrets hold. */
export const secrets = Type.Object(
  {
    as: Type.Enum(['environment', 'files'], {
      default: 'environment',
      description:
        'environment: variables. files: a folder that the consumer reads as a config tree; nothing of it is in the environment.',
    }),
  },
  { ...section, description: 'How the container gets what the Secrets hold; either way when it starts.' },
);
