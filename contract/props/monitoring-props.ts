// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `monitoring` of consumer.yaml. */
export interface MonitoringProps {
  /**
   * Whether monitoring.k8s.yaml is written: ServiceMonitor and PrometheusRule, for clusters with the Prometheus
   * Operator's CRDs.
   *
   * @default true
   */
  readonly customResources?: boolean;

  /**
   * More labels for both, for operators that select by label (release: kube-prometheus-stack).
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * Time between two scrapes; the health alert has to see a failing Pod before its probe ends it.
   *
   * Allowed: 5 to 30.
   *
   * @default 15
   */
  readonly scrapeIntervalSeconds?: number;

  /**
   * Where docs/runbooks is published: each alert's runbook_url is this, a slash and <AlertName>.md.
   *
   * Allowed: an http or https URL without a slash at its end.
   *
   * @default 'https://github.com/stream-consumer/stream-consumer/blob/main/docs/runbooks'
   */
  readonly runbookBaseUrl?: string;
}
