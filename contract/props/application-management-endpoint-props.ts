// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementEndpointHealthProps } from './application-management-endpoint-health-props.ts';

/** How single endpoints answer. */
export interface ApplicationManagementEndpointProps {
  /**
   * How the health answers.
   *
   * @default - the default of each property
   */
  readonly health?: ApplicationManagementEndpointHealthProps;
}
