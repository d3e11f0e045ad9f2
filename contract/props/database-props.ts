// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { DatabaseKeysProps } from './database-keys-props.ts';

/** PostgreSQL's URL, user and password; user and password may be missing from the Secret. */
export interface DatabaseProps {
  /**
   * Secret with the credentials, made by you in the same namespace; left out: <name>-database.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - <name>-database
   */
  readonly existingSecret?: string;

  /**
   * `database.keys` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly keys?: DatabaseKeysProps;
}
