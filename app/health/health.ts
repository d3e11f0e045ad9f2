import type { Status } from './status.ts';

/** What a health detail may hold: JSON, so that an answer can show it as it is. */
export type Detail = string | number | boolean | readonly Detail[] | { readonly [name: string]: Detail };

/** The health of one component; details are for a person on call and never hold a secret or a record's content. */
export interface Health {
  readonly status: Status;
  readonly details?: Readonly<Record<string, Detail>>;
}
