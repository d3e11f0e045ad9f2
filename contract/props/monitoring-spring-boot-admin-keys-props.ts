// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `monitoring.springBootAdmin.keys` of consumer.yaml. */
export interface MonitoringSpringBootAdminKeysProps {
  /**
   * Key of the Secret; left out: username.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots.
   *
   * @default 'username'
   */
  readonly username?: string;

  /**
   * Key of the Secret; left out: password.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots.
   *
   * @default 'password'
   */
  readonly password?: string;
}
