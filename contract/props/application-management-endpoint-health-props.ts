// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementEndpointHealthGroupProps } from './application-management-endpoint-health-group-props.ts';
import type { ApplicationManagementEndpointHealthProbesProps } from './application-management-endpoint-health-probes-props.ts';
import type { ApplicationManagementEndpointHealthStatusProps } from './application-management-endpoint-health-status-props.ts';

/** How the health answers. */
export interface ApplicationManagementEndpointHealthProps {
  /**
   * Whether components show their details: never, always, or when-authorized, to who shows the credential of
   * management.security.
   *
   * @default 'always'
   */
  readonly 'show-details'?: 'never' | 'when-authorized' | 'always';

  /**
   * Whether the components are shown, and answer at their own paths. Left out: as
   * management.endpoint.health.show-details.
   *
   * @default - as management.endpoint.health.show-details
   */
  readonly 'show-components'?: 'never' | 'when-authorized' | 'always';

  /**
   * How statuses are ordered and mapped; in a group, what is left out is as in the whole.
   *
   * @default - the default of each property
   */
  readonly status?: ApplicationManagementEndpointHealthStatusProps;

  /**
   * Groups of components by name; each answers below /actuator/health.
   *
   * @default {}
   */
  readonly group?: Readonly<Record<string, ApplicationManagementEndpointHealthGroupProps>>;

  /**
   * What Kubernetes asks for.
   *
   * @default - the default of each property
   */
  readonly probes?: ApplicationManagementEndpointHealthProbesProps;
}
