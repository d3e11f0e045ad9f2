/** Names that both the workload and its monitoring use; all derive from `name` in consumer.yaml, none carries a generated part. */
export interface ConsumerNames {
  /** Deployment, ServiceAccount, Service, PodDisruptionBudget, ServiceMonitor and PrometheusRule. */
  readonly workload: string;
  /** Start of the ConfigMap's name; a hash of its content follows. */
  readonly configPrefix: string;
  /**
   * Start of the name of the Job that migrates, where a hash follows (63 characters in all), and the instance of its Pods,
   * which the Service and the budget of the others must not take for theirs.
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
