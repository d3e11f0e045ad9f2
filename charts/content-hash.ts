import { createHash } from 'node:crypto';

const DIGITS = 10;

/** The first ten hexadecimal digits of the content's SHA-256: the same on every machine and in every version of cdk8s. */
export function contentHash(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, DIGITS);
}
