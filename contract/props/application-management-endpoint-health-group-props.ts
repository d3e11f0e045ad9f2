// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementEndpointHealthGroupStatusProps } from './application-management-endpoint-health-group-status-props.ts';

/** A group of health components. */
export interface ApplicationManagementEndpointHealthGroupProps {
  /**
   * Components of the group; * or an empty list is all of them.
   *
   * @default []
   */
  readonly include?: readonly ('consumer' | 'db' | 'diskSpace' | 'kafka' | 'livenessState' | 'ping' | 'readinessState' | '*')[];

  /**
   * Components that are not in the group although they are included; * is all of them.
   *
   * @default []
   */
  readonly exclude?: readonly ('consumer' | 'db' | 'diskSpace' | 'kafka' | 'livenessState' | 'ping' | 'readinessState' | '*')[];

  /**
   * Whether the group shows details. Left out: as the whole.
   *
   * @default - as the whole
   */
  readonly 'show-details'?: 'never' | 'when-authorized' | 'always';

  /**
   * Whether the group shows components. Left out: as the whole.
   *
   * @default - as the whole
   */
  readonly 'show-components'?: 'never' | 'when-authorized' | 'always';

  /**
   * Another path that answers for the group. Left out: none.
   *
   * Allowed: server: or management: and a path of one segment, such as server:/healthz.
   *
   * @default - none
   */
  readonly 'additional-path'?: string;

  /**
   * How statuses are ordered and mapped; in a group, what is left out is as in the whole.
   *
   * @default - the default of each property
   */
  readonly status?: ApplicationManagementEndpointHealthGroupStatusProps;
}
