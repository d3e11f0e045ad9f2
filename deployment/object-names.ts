import { Type } from 'typebox';
import { ALLOWED } from '../settings/schema.ts';

/** Options of a string that names an object of Kubernetes. */
export const objectName = {
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  maxLength: 253,
  [ALLOWED]: 'the name of a Kubernetes object: lower-case letters, digits, dashes and dots',
};

/** What Kubernetes takes for a key of a Secret. */
export const SECRET_KEY = '^[-._a-zA-Z0-9]{1,253}$';

/** Schema of a Secret's key that has a usual name. */
export const secretKey = (fallback: string) =>
  Type.String({
    pattern: SECRET_KEY,
    default: fallback,
    description: `Key of the Secret; left out: ${fallback}.`,
    [ALLOWED]: 'a key of a Secret: letters, digits, dashes, underscores and dots',
  });
