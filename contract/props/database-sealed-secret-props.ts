// Written by npm run generate out of consumer.yaml's schema; never edited.

/** Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it. */
export interface DatabaseSealedSecretProps {
  /** By key of the Secret: its value as kubeseal encrypted it. */
  readonly encryptedData: Readonly<Record<string, string>>;

  /**
   * What kubeseal was told that the values may be used for.
   *
   * @default 'strict'
   */
  readonly scope?: 'strict' | 'namespace-wide' | 'cluster-wide';
}
