// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { MonitoringCredentialsKeysProps } from './monitoring-credentials-keys-props.ts';

/**
 * Who may read metrics, info and the details of the health; the status of the health stays open to the probes. Left
 * out: everybody who reaches the port.
 */
export interface MonitoringCredentialsProps {
  /**
   * Secret with the credential, made by you in the same namespace.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * bearer: the Secret has a token. basic: it has a username and a password.
   *
   * @default 'bearer'
   */
  readonly type?: 'bearer' | 'basic';

  /**
   * `monitoring.credentials.keys` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly keys?: MonitoringCredentialsKeysProps;
}
