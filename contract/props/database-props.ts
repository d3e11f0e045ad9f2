// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { DatabaseExternalSecretProps } from './database-external-secret-props.ts';
import type { DatabaseKeysProps } from './database-keys-props.ts';
import type { DatabaseOwnerProps } from './database-owner-props.ts';
import type { DatabaseSealedSecretProps } from './database-sealed-secret-props.ts';

/** PostgreSQL's URL, user and password; user and password may be missing from the Secret. */
export interface DatabaseProps {
  /**
   * Secret with the credentials in the same namespace, made by you or by one of the two below.
   *
   * Allowed: the name of a Secret with the keys url, user and password (keys renames them).
   */
  readonly existingSecret: string;

  /**
   * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
   * it.
   *
   * @default - somebody else makes it
   */
  readonly externalSecret?: DatabaseExternalSecretProps;

  /**
   * Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it.
   *
   * @default - somebody else makes it
   */
  readonly sealedSecret?: DatabaseSealedSecretProps;

  /**
   * Keys of the Secret.
   *
   * @default - the default of each property
   */
  readonly keys?: DatabaseKeysProps;

  /**
   * Who creates and upgrades the tables. onStart: the consumer. job: a Job, as the owner, so that the consumer need
   * not be able to. never: somebody else.
   *
   * @default 'onStart'
   */
  readonly migrate?: 'onStart' | 'job' | 'never';

  /**
   * Who the Job logs in as; needed with migrate: job. Left out: nobody.
   *
   * @default - nobody
   */
  readonly owner?: DatabaseOwnerProps;
}
