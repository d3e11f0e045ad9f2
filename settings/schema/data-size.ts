import { Type } from 'typebox';
import { ALLOWED } from './schema.ts';

/** Spring's units: powers of 1024, in exactly these letters. */
const BYTES = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 } as const;

/** A whole number and its unit, as Spring's `DataSize` writes them, but for a negative one. */
const DATA_SIZE_PATTERN = '^[+]?[0-9]+(B|KB|MB|GB|TB)?$';

/**
 * Bytes of a size such as `10MB`; a number without a unit is bytes.
 *
 * @throws RangeError when the text is no size; a checked setting always is one.
 */
export function bytesOf(size: number | string): number {
  const match = /^\+?(\d+)(B|KB|MB|GB|TB)?$/.exec(String(size));
  if (match?.[1] === undefined) {
    throw new RangeError(`"${size}" is not a size: a whole number and one of B, KB, MB, GB, TB is`);
  }
  return Number(match[1]) * BYTES[(match[2] ?? 'B') as keyof typeof BYTES];
}

/**
 * Schema of a setting that is a number of bytes.
 *
 * @see https://docs.spring.io/spring-boot/reference/features/external-config.html, "Converting Data Sizes"
 */
export const dataSize = (value: string, description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: DATA_SIZE_PATTERN })], {
    default: value,
    description,
    [ALLOWED]:
      'a size: a whole number and one of B, KB, MB, GB, TB (each 1,024 times the one before), such as 10MB; bytes without a unit',
  });
