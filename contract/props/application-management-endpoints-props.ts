// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementEndpointsWebProps } from './application-management-endpoints-web-props.ts';

/** `application.management.endpoints` of consumer.yaml. */
export interface ApplicationManagementEndpointsProps {
  /**
   * `application.management.endpoints.web` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly web?: ApplicationManagementEndpointsWebProps;
}
