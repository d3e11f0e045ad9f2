// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { DatabaseOwnerExternalSecretProps } from './database-owner-external-secret-props.ts';
import type { DatabaseOwnerKeysProps } from './database-owner-keys-props.ts';
import type { DatabaseOwnerSealedSecretProps } from './database-owner-sealed-secret-props.ts';

/** Who the Job logs in as; needed with migrate: job. Left out: nobody. */
export interface DatabaseOwnerProps {
  /**
   * Secret with the owner's credentials in the same namespace, made by you or by one of the two below.
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
  readonly externalSecret?: DatabaseOwnerExternalSecretProps;

  /**
   * Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it.
   *
   * @default - somebody else makes it
   */
  readonly sealedSecret?: DatabaseOwnerSealedSecretProps;

  /**
   * Keys of the Secret.
   *
   * @default - the default of each property
   */
  readonly keys?: DatabaseOwnerKeysProps;
}
