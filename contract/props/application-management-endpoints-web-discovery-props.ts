// Written by npm run generate out of consumer.yaml's schema; never edited.

/** The list of endpoints. */
export interface ApplicationManagementEndpointsWebDiscoveryProps {
  /**
   * Whether the base path answers with links to the endpoints.
   *
   * @default true
   */
  readonly enabled?: boolean;
}
