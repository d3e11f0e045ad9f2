// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementHealthDiskspaceProps } from './application-management-health-diskspace-props.ts';
import type { ApplicationManagementHealthKafkaProps } from './application-management-health-kafka-props.ts';

/** What the health report holds. */
export interface ApplicationManagementHealthProps {
  /**
   * The component kafka of the health report.
   *
   * @default - the default of each property
   */
  readonly kafka?: ApplicationManagementHealthKafkaProps;

  /**
   * The component diskSpace of the health report.
   *
   * @default - the default of each property
   */
  readonly diskspace?: ApplicationManagementHealthDiskspaceProps;
}
