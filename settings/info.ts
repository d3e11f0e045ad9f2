import { Type } from 'typebox';

/** What `/actuator/info` shows beside what the consumer knows of itself. */
export const info = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    {},
    {
      additionalProperties: Type.Unknown(),
      default: {},
      description: 'Shown by /actuator/info under this name; values are texts, lists of them, or maps.',
    },
  ),
);
