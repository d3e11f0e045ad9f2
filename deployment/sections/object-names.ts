import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { ALLOWED, closed } from '../../settings/schema/schema.ts';

/** Options of a string that names an object of Kubernetes. */
export const objectName = {
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  maxLength: 253,
  [ALLOWED]: 'the name of a Kubernetes object: lower-case letters, digits, dashes and dots',
};

/** What Kubernetes takes for a key of a Secret. */
export const SECRET_KEY = '^(?!\\.\\.)(?!\\.$)[-._a-zA-Z0-9]{1,253}$';

/** Schema of a Secret's key that has a usual name. */
export const secretKey = (fallback: string) =>
  Type.String({
    pattern: SECRET_KEY,
    default: fallback,
    description: `Key of the Secret; left out: ${fallback}.`,
    [ALLOWED]: 'a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots',
  });

/** At most 253 characters in any number of parts (Kubernetes' IsDNS1123Subdomain), and the slash behind them. */
const PREFIX = '(?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/';
const NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';

/** Options of a string that names a label. */
export const labelKey = {
  pattern: `^(${PREFIX})?${NAME}$`,
  [ALLOWED]: "a label's name, such as team or example.com/team",
};

/** Options of a string that is a label's value. */
export const labelValue = {
  pattern: `^(${NAME})?$`,
  [ALLOWED]: "a label's value: at most 63 letters, digits, dashes, underscores and dots",
};

const KEY = Type.String({ pattern: labelKey.pattern });

interface MapOptions {
  readonly description: string;
  readonly default?: Readonly<Record<string, string>>;
}

/** Labels as Kubernetes takes them: `team: payments`, `example.com/cost-centre: "42"`. */
export const labelMap = (options: MapOptions) => Type.Record(KEY, Type.String(labelValue), { ...closed, ...options });

/** Annotations: named as labels are, with any text. */
export const annotationMap = (options: MapOptions) => Type.Record(KEY, Type.String(), { ...closed, ...options });

/**
 * The first ten hexadecimal digits of the content's SHA-256: the same on every machine and in every version of cdk8s.
 */
export function contentHash(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 10);
}
