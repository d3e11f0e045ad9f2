// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationKafkaSaslProps } from './application-kafka-sasl-props.ts';

/** How Kafka is reached and what is read from it. */
export interface ApplicationKafkaProps {
  /** Bootstrap brokers, each as host:port. */
  readonly brokers: readonly string[];

  /** Topics to read; each has to exist. */
  readonly topics: readonly string[];

  /** Consumer group; with topic and partition it names the stored position. */
  readonly groupId: string;

  /**
   * Name of this client in the brokers' logs and quotas.
   *
   * @default 'stream-consumer'
   */
  readonly clientId?: string;

  /**
   * Silence after which the group gives the partitions of a member to others.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, such as 500ms, 30s, 5m.
   *
   * @default '10s'
   */
  readonly sessionTimeout?: string;

  /**
   * TLS to the brokers, verified against the system's certificate authorities.
   *
   * @default false
   */
  readonly ssl?: boolean;

  /**
   * SASL authentication with the brokers; left out: none.
   *
   * @default - none
   */
  readonly sasl?: ApplicationKafkaSaslProps;
}
