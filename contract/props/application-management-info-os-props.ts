// Written by npm run generate out of consumer.yaml's schema; never edited.

/** An optional part of /actuator/info. */
export interface ApplicationManagementInfoOsProps {
  /**
   * Whether /actuator/info names the operating system.
   *
   * @default false
   */
  readonly enabled?: boolean;
}
