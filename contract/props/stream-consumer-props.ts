// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationProps } from './application-props.ts';
import type { DatabaseProps } from './database-props.ts';
import type { ImageProps } from './image-props.ts';
import type { KafkaProps } from './kafka-props.ts';
import type { MonitoringProps } from './monitoring-props.ts';
import type { NamespaceProps } from './namespace-props.ts';
import type { NetworkPolicyProps } from './network-policy-props.ts';
import type { PodsProps } from './pods-props.ts';
import type { ProbesProps } from './probes-props.ts';
import type { ResourcesProps } from './resources-props.ts';
import type { RolloutProps } from './rollout-props.ts';
import type { ScalingProps } from './scaling-props.ts';
import type { SecretsProps } from './secrets-props.ts';

/** The content of consumer.yaml, as the props of a construct. */
export interface StreamConsumerProps {
  /**
   * Name of the workload; all objects derive their names from it.
   *
   * Allowed: a name of at most 45 lower-case letters, digits and dashes that begins with a letter.
   *
   * @default 'stream-consumer'
   */
  readonly name?: string;

  /**
   * Where the objects are.
   *
   * @default - the default of each property
   */
  readonly namespace?: NamespaceProps;

  /** Which image the Pods run. */
  readonly image: ImageProps;

  /**
   * Pods; beyond the number of partitions they wait idle. An autoscaler (scaling) decides instead.
   *
   * Allowed: 0 to 1000.
   *
   * @default 1
   */
  readonly replicas?: number;

  /**
   * Partitions of all topics together, which limit how many Pods have work; left out: unknown.
   *
   * Allowed: 1 to 200000.
   *
   * @default - unknown
   */
  readonly partitions?: number;

  /**
   * `scaling` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly scaling?: ScalingProps;

  /**
   * How Pods are replaced.
   *
   * @default - the default of each property
   */
  readonly rollout?: RolloutProps;

  /**
   * What a Pod may use.
   *
   * @default - the default of each property
   */
  readonly resources?: ResourcesProps;

  /**
   * Time between SIGTERM and SIGKILL; longer than application.shutdown.timeout.
   *
   * Allowed: 1 to 3600.
   *
   * @default 40
   */
  readonly terminationGracePeriodSeconds?: number;

  /**
   * What Kubernetes asks the Pods, and how often.
   *
   * @default - the default of each property
   */
  readonly probes?: ProbesProps;

  /**
   * What else is said about the Pods of the Deployment and of the Job.
   *
   * @default - the default of each property
   */
  readonly pods?: PodsProps;

  /** PostgreSQL's URL, user and password; user and password may be missing from the Secret. */
  readonly database: DatabaseProps;

  /**
   * Credentials of the brokers, needed with application.kafka.sasl; left out: none.
   *
   * @default - none
   */
  readonly kafka?: KafkaProps;

  /**
   * How the container gets what the Secrets hold; either way when it starts.
   *
   * @default - the default of each property
   */
  readonly secrets?: SecretsProps;

  /**
   * `networkPolicy` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly networkPolicy?: NetworkPolicyProps;

  /**
   * How the consumer is scraped and watched.
   *
   * @default - the default of each property
   */
  readonly monitoring?: MonitoringProps;

  /** Settings of the consumer, as in application.yml; they go into the ConfigMap. */
  readonly application: ApplicationProps;
}
