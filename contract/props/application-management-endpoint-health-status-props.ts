// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementEndpointHealthStatusHttpMappingProps } from './application-management-endpoint-health-status-http-mapping-props.ts';

/** How statuses are ordered and mapped; in a group, what is left out is as in the whole. */
export interface ApplicationManagementEndpointHealthStatusProps {
  /**
   * Statuses, the most severe first: of several components the first one here is the status of all. A status that is
   * left out counts for nothing. Left out: down, out-of-service, up, unknown.
   *
   * @default - down, out-of-service, up, unknown
   */
  readonly order?: readonly ('down' | 'out-of-service' | 'up' | 'unknown')[];

  /**
   * HTTP status of each health status. Left out: 503 for down and out-of-service, 200 for the others.
   *
   * @default - 503 for down and out-of-service, 200 for the others
   */
  readonly 'http-mapping'?: ApplicationManagementEndpointHealthStatusHttpMappingProps;
}
