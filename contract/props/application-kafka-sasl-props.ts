// Written by npm run generate out of consumer.yaml's schema; never edited.

/** SASL authentication with the brokers; left out: none. */
export interface ApplicationKafkaSaslProps {
  /** How the password is proved; plain sends it, so it wants kafka.ssl. */
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';

  /**
   * User at the brokers. Left out: it comes from the Secret with the password.
   *
   * @default - it comes from the Secret with the password
   */
  readonly username?: string;
}
