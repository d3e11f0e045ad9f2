// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { DatabaseKeysProps } from './database-keys-props.ts';

/** PostgreSQL's URL, user and password; user and password may be missing from the Secret. */
export interface DatabaseProps {
  /**
   * Secret with the credentials, made by you in the same namespace.
   *
   * Allowed: the name of a Secret with the keys url, user and password (database.keys renames them).
   */
  readonly existingSecret: string;

  /**
   * Keys of the Secret.
   *
   * @default - the default of each property
   */
  readonly keys?: DatabaseKeysProps;
}
