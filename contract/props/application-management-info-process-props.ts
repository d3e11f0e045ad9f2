// Written by npm run generate out of consumer.yaml's schema; never edited.

/** An optional part of /actuator/info. */
export interface ApplicationManagementInfoProcessProps {
  /**
   * Whether /actuator/info tells of the process: its number, owner, processors and memory.
   *
   * @default false
   */
  readonly enabled?: boolean;
}
