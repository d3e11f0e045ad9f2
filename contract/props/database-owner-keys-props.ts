// Written by npm run generate out of consumer.yaml's schema; never edited.

/** Keys of the Secret. */
export interface DatabaseOwnerKeysProps {
  /**
   * Key of the Secret; left out: url.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots.
   *
   * @default 'url'
   */
  readonly url?: string;

  /**
   * Key of the Secret; left out: user.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots.
   *
   * @default 'user'
   */
  readonly user?: string;

  /**
   * Key of the Secret; left out: password.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots.
   *
   * @default 'password'
   */
  readonly password?: string;
}
