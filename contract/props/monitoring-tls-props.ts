// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { MonitoringTlsKeysProps } from './monitoring-tls-keys-props.ts';

/** HTTPS for the operational interface, probes and scrapes included. Left out: HTTP. */
export interface MonitoringTlsProps {
  /**
   * Secret of type kubernetes.io/tls in the same namespace, such as cert-manager makes and renews.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * `monitoring.tls.keys` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly keys?: MonitoringTlsKeysProps;

  /**
   * Whether a scrape verifies the certificate: by the authority in the Secret, for the name <name>.<namespace>.svc.
   * Probes never do.
   *
   * @default true
   */
  readonly verify?: boolean;
}
