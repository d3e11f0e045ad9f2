// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { KafkaExternalSecretProps } from './kafka-external-secret-props.ts';
import type { KafkaKeysProps } from './kafka-keys-props.ts';
import type { KafkaSealedSecretProps } from './kafka-sealed-secret-props.ts';

/** Credentials of the brokers, needed with application.kafka.sasl; left out: none. */
export interface KafkaProps {
  /**
   * Secret with the SASL credentials in the same namespace, made by you or by one of the two below.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
   * it.
   *
   * @default - somebody else makes it
   */
  readonly externalSecret?: KafkaExternalSecretProps;

  /**
   * Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it.
   *
   * @default - somebody else makes it
   */
  readonly sealedSecret?: KafkaSealedSecretProps;

  /**
   * Keys of the Secret.
   *
   * @default - the default of each property
   */
  readonly keys?: KafkaKeysProps;
}
