import { delimited, field, scalarBytes, tag } from './any-bytes.ts';

export { tag, varint } from './any-bytes.ts';

export const joined = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);

/** A field that is a number in base 128. */
export const int = (number: number, value: number | bigint): Buffer =>
  field(number, 0, scalarBytes('int64', String(value)));

/** A field that has a length: text, bytes or a message. */
export const bytes = (number: number, content: string | Buffer): Buffer =>
  field(number, 2, delimited(Buffer.from(content as string)));

/** A message between the tags of a group. */
export const group = (number: number, content: Buffer): Buffer => joined(tag(number, 3), content, tag(number, 4));

export const double = (number: number, value: number): Buffer => field(number, 1, scalarBytes('double', value));
