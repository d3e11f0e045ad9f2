// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { MonitoringSpringBootAdminKeysProps } from './monitoring-spring-boot-admin-keys-props.ts';

/** Credentials for application.spring.boot.admin.client.url. Left out: none. */
export interface MonitoringSpringBootAdminProps {
  /**
   * Secret with user and password at the server, made by you in the same namespace.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * `monitoring.springBootAdmin.keys` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly keys?: MonitoringSpringBootAdminKeysProps;
}
