// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementEndpointsWebDiscoveryProps } from './application-management-endpoints-web-discovery-props.ts';
import type { ApplicationManagementEndpointsWebExposureProps } from './application-management-endpoints-web-exposure-props.ts';

/** The endpoints as a web API. */
export interface ApplicationManagementEndpointsWebProps {
  /**
   * Path that all endpoints begin with; a slash at its end is cut, and empty serves them at the root.
   *
   * Allowed: an empty text, or segments of letters, digits and . _ ~ - that each begin with a slash.
   *
   * @default '/actuator'
   */
  readonly 'base-path'?: string;

  /**
   * Which endpoints answer.
   *
   * @default - the default of each property
   */
  readonly exposure?: ApplicationManagementEndpointsWebExposureProps;

  /**
   * The list of endpoints.
   *
   * @default - the default of each property
   */
  readonly discovery?: ApplicationManagementEndpointsWebDiscoveryProps;
}
