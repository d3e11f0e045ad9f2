// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementEndpointsWebProps } from './application-management-endpoints-web-props.ts';

/** Which endpoints there are, and where they are found. */
export interface ApplicationManagementEndpointsProps {
  /**
   * The endpoints as a web API.
   *
   * @default - the default of each property
   */
  readonly web?: ApplicationManagementEndpointsWebProps;
}
