import { Type } from 'typebox';
import { DURATION_PATTERN } from './duration.ts';
import { ALLOWED } from './schema.ts';

/** Schema of a setting that is a time span. */
export const duration = (value: string, description: string) =>
  Type.String({
    pattern: DURATION_PATTERN,
    default: value,
    description,
    [ALLOWED]: 'a duration: a whole number and one of ms, s, m, h, such as 500ms, 30s, 5m',
  });
