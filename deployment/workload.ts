import type { ManagementEndpoint } from '../contract/actuator.ts';
import type { StreamConsumerProps } from './generated/props.ts';

/**
 * Names that both the workload and its monitoring use; all derive from `name` in consumer.yaml, none carries a
 * generated part.
 */
export interface ConsumerNames {
  /**
   * Deployment, Service, ServiceAccount unless the props name another, PodDisruptionBudget, ServiceMonitor and
   * PrometheusRule.
   */
  readonly workload: string;
  /** Start of the ConfigMap's name; a hash of its content follows. */
  readonly configPrefix: string;
  /**
   * Start of the name of the Job that migrates, where a hash follows (63 characters in all). Also the instance of its
   * Pods, which the Service and the budget of the others must not take for theirs.
   */
  readonly schemaJob: string;
  /**
   * Value of the label `job` of every scraped series: the Service's name, as the Prometheus Operator sets it by itself.
   * The plain scrape job takes the same name, so that one set of rules fits both.
   */
  readonly scrapeJob: string;
}

/** All names of one consumer. */
export function consumerNames(name: string): ConsumerNames {
  return {
    workload: name,
    configPrefix: `${name}-config`,
    schemaJob: `${name}-schema`,
    scrapeJob: name,
  };
}

// No type of a schema is here: the compiler of an app that uses the library would work through all of TypeBox.

/** What objects around a consumer's have to know of it. */
export interface Workload {
  /** The props, as they were given and found right. */
  readonly document: StreamConsumerProps;
  /** What its objects are called. */
  readonly names: ConsumerNames;
  /** Where all its objects are. */
  readonly namespace: string;
  /** All six recommended labels: for metadata and the Pod template. */
  readonly labels: Readonly<Record<string, string>>;
  /** The labels that never change: for selectors. */
  readonly selector: Readonly<Record<string, string>>;
  /** Port, scheme, paths and access of the HTTP interface. */
  readonly endpoint: ManagementEndpoint;
  /** The package's version, which is the image's tag unless the props name another. */
  readonly version: string;
}
