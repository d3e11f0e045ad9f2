// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementInfoOsProps } from './application-management-info-os-props.ts';
import type { ApplicationManagementInfoProcessProps } from './application-management-info-process-props.ts';

/** Which optional parts /actuator/info has. */
export interface ApplicationManagementInfoProps {
  /**
   * An optional part of /actuator/info.
   *
   * @default - the default of each property
   */
  readonly os?: ApplicationManagementInfoOsProps;

  /**
   * An optional part of /actuator/info.
   *
   * @default - the default of each property
   */
  readonly process?: ApplicationManagementInfoProcessProps;
}
