// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { KafkaKeysProps } from './kafka-keys-props.ts';

/** Credentials of the brokers, needed with application.kafka.sasl; left out: none. */
export interface KafkaProps {
  /**
   * Secret with the SASL credentials, made by you in the same namespace.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * Keys of the Secret.
   *
   * @default - the default of each property
   */
  readonly keys?: KafkaKeysProps;
}
