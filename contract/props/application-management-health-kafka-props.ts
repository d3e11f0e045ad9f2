// Written by npm run generate out of consumer.yaml's schema; never edited.

/** The component kafka of the health report. */
export interface ApplicationManagementHealthKafkaProps {
  /**
   * Whether an outage of Kafka makes /actuator/health DOWN. Both probes ask it, and a restart brings no broker back.
   *
   * @default false
   */
  readonly 'in-root'?: boolean;
}
