// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { MonitoringCredentialsProps } from './monitoring-credentials-props.ts';
import type { MonitoringSpringBootAdminProps } from './monitoring-spring-boot-admin-props.ts';
import type { MonitoringTlsProps } from './monitoring-tls-props.ts';

/** How the consumer is scraped and watched. */
export interface MonitoringProps {
  /**
   * Whether monitoring.k8s.yaml is written: how to scrape, and PrometheusRule, for clusters with the Prometheus
   * Operator's CRDs.
   *
   * @default true
   */
  readonly customResources?: boolean;

  /**
   * How Prometheus is told: by a custom resource of the operator, or by annotations prometheus.io/scrape on the Pods,
   * which the operator does not look at. none: by nothing among the manifests.
   *
   * @default 'serviceMonitor'
   */
  readonly scrape?: 'serviceMonitor' | 'podMonitor' | 'scrapeConfig' | 'annotations' | 'none';

  /**
   * Label job that Prometheus gives to what annotations made it scrape; the alerts look for it.
   *
   * Allowed: the name of a scrape job: letters, digits, and any of _ . / -.
   *
   * @default 'kubernetes-pods'
   */
  readonly annotationJob?: string;

  /**
   * Targets in dist/prometheus/scrape.yml, each as host:port, one per Pod. Left out: the Service.
   *
   * @default []
   */
  readonly staticTargets?: readonly string[];

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
   * Credentials for application.spring.boot.admin.client.url. Left out: none.
   *
   * @default - none
   */
  readonly springBootAdmin?: MonitoringSpringBootAdminProps;

  /**
   * Where docs/runbooks is published: each alert's runbook_url is this, a slash and <AlertName>.md.
   *
   * Allowed: an http or https URL without a slash at its end.
   *
   * @default 'https://github.com/stream-consumer/stream-consumer/blob/main/docs/runbooks'
   */
  readonly runbookBaseUrl?: string;
}
