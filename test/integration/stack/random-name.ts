import { randomBytes } from 'node:crypto';

/** A name that no other test has: valid as topic, group and schema. */
export const randomName = (prefix: string): string => `${prefix}_${randomBytes(6).toString('hex')}`;
