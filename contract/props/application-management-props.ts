// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementEndpointProps } from './application-management-endpoint-props.ts';
import type { ApplicationManagementEndpointsProps } from './application-management-endpoints-props.ts';
import type { ApplicationManagementHealthProps } from './application-management-health-props.ts';
import type { ApplicationManagementInfoProps } from './application-management-info-props.ts';
import type { ApplicationManagementMetricsProps } from './application-management-metrics-props.ts';
import type { ApplicationManagementSecurityProps } from './application-management-security-props.ts';
import type { ApplicationManagementServerProps } from './application-management-server-props.ts';

/** What the operational interface shows. */
export interface ApplicationManagementProps {
  /**
   * `application.management.server` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly server?: ApplicationManagementServerProps;

  /**
   * Which endpoints there are, and where they are found.
   *
   * @default - the default of each property
   */
  readonly endpoints?: ApplicationManagementEndpointsProps;

  /**
   * `application.management.security` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly security?: ApplicationManagementSecurityProps;

  /**
   * How single endpoints answer.
   *
   * @default - the default of each property
   */
  readonly endpoint?: ApplicationManagementEndpointProps;

  /**
   * What the health report holds.
   *
   * @default - the default of each property
   */
  readonly health?: ApplicationManagementHealthProps;

  /**
   * Which optional parts /actuator/info has.
   *
   * @default - the default of each property
   */
  readonly info?: ApplicationManagementInfoProps;

  /**
   * How metrics are exported.
   *
   * @default - the default of each property
   */
  readonly metrics?: ApplicationManagementMetricsProps;
}
