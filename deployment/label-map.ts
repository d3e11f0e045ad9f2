import { Type } from 'typebox';
import { ALLOWED } from '../settings/schema.ts';
import { closed } from '../settings/section.ts';

const DNS_NAME = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){0,3}';
const NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';

const KEY = Type.String({ pattern: `^(${DNS_NAME}/)?${NAME}$` });

interface MapOptions {
  readonly description: string;
  readonly default?: Readonly<Record<string, string>>;
}

/** Labels as Kubernetes takes them: `team: payments`, `example.com/cost-centre: "42"`. */
export const labelMap = (options: MapOptions) =>
  Type.Record(
    KEY,
    Type.String({
      pattern: `^(${NAME})?$`,
      [ALLOWED]: "a label's value: at most 63 letters, digits, dashes, underscores and dots",
    }),
    { ...closed, ...options },
  );

/** Annotations: named as labels are, with any text. */
export const annotationMap = (options: MapOptions) => Type.Record(KEY, Type.String(), { ...closed, ...options });
