// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `monitoring.tls.keys` of consumer.yaml. */
export interface MonitoringTlsKeysProps {
  /**
   * Key of the Secret; left out: tls.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots.
   *
   * @default 'tls.crt'
   */
  readonly certificate?: string;

  /**
   * Key of the Secret; left out: tls.key.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots.
   *
   * @default 'tls.key'
   */
  readonly privateKey?: string;

  /**
   * Key of the Secret; left out: ca.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots.
   *
   * @default 'ca.crt'
   */
  readonly authority?: string;
}
