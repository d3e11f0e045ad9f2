import { Type } from 'typebox';
import { section } from './section.ts';

/** How records become rows. */
export const records = Type.Object(
  {
    keyEncoding: Type.Enum(['text', 'base64'], {
      default: 'text',
      description:
        'How keys are stored in records.key: as text, where a key that is not text is a dead letter, or all of them as base64.',
    }),
  },
  { ...section, description: 'How records become rows.' },
);
