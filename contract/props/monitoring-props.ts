// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { MonitoringCredentialsProps } from './monitoring-credentials-props.ts';
import type { MonitoringTlsProps } from './monitoring-tls-props.ts';

/** How the consumer is scraped and watched. */
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
   * Who may read metrics, info and the details of the health; the status of the health stays open to the probes. Left
   * out: everybody who reaches the port.
   *
   * @default - everybody who reaches the port
   */
  readonly credentials?: MonitoringCredentialsProps;

  /**
   * HTTPS for the operational interface, probes and scrapes included. Left out: HTTP.
   *
   * @default - HTTP
   */
  readonly tls?: MonitoringTlsProps;

  /**
   * Where docs/runbooks is published: each alert's runbook_url is this, a slash and <AlertName>.md.
   *
   * Allowed: an http or https URL without a slash at its end.
   *
   * @default 'https://github.com/stream-consumer/stream-consumer/blob/main/docs/runbooks'
   */
  readonly runbookBaseUrl?: string;
}
