// Written by npm run generate out of consumer.yaml's schema; never edited.

/**
 * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
 * it.
 */
export interface KafkaExternalSecretProps {
  /**
   * Name of the store, which somebody has set up in the cluster.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly store: string;

  /**
   * Whether the store is for the namespace or for the cluster.
   *
   * @default 'ClusterSecretStore'
   */
  readonly storeKind?: 'SecretStore' | 'ClusterSecretStore';

  /** What the store calls the secret; each of its properties becomes a key of the Secret. */
  readonly remoteKey: string;

  /**
   * Time between two looks at the store.
   *
   * Allowed: a whole number and one of s, m, h, such as 1h.
   *
   * @default '1h'
   */
  readonly refreshInterval?: string;
}
