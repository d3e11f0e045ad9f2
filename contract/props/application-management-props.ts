// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementHealthProps } from './application-management-health-props.ts';
import type { ApplicationManagementMetricsProps } from './application-management-metrics-props.ts';

/** `application.management` of consumer.yaml. */
export interface ApplicationManagementProps {
  /**
   * `application.management.health` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly health?: ApplicationManagementHealthProps;

  /**
   * `application.management.metrics` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly metrics?: ApplicationManagementMetricsProps;
}
