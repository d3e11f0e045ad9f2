// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationManagementHealthDiskspaceProps } from './application-management-health-diskspace-props.ts';
import type { ApplicationManagementHealthKafkaProps } from './application-management-health-kafka-props.ts';

/** `application.management.health` of consumer.yaml. */
export interface ApplicationManagementHealthProps {
  /**
   * `application.management.health.kafka` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly kafka?: ApplicationManagementHealthKafkaProps;

  /**
   * `application.management.health.diskspace` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly diskspace?: ApplicationManagementHealthDiskspaceProps;
}
