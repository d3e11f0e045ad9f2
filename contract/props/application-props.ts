// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationConsumerProps } from './application-consumer-props.ts';
import type { ApplicationDatabaseProps } from './application-database-props.ts';
import type { ApplicationDeadLettersProps } from './application-dead-letters-props.ts';
import type { ApplicationKafkaProps } from './application-kafka-props.ts';
import type { ApplicationLoggingProps } from './application-logging-props.ts';
import type { ApplicationManagementProps } from './application-management-props.ts';
import type { ApplicationRecordsProps } from './application-records-props.ts';
import type { ApplicationServerProps } from './application-server-props.ts';
import type { ApplicationShutdownProps } from './application-shutdown-props.ts';

/** Settings of the consumer, as in application.yml; they go into the ConfigMap. */
export interface ApplicationProps {
  /**
   * `application.server` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly server?: ApplicationServerProps;

  /** `application.kafka` of consumer.yaml. */
  readonly kafka: ApplicationKafkaProps;

  /**
   * `application.database` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly database?: ApplicationDatabaseProps;

  /**
   * `application.consumer` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly consumer?: ApplicationConsumerProps;

  /**
   * `application.records` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly records?: ApplicationRecordsProps;

  /**
   * `application.deadLetters` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly deadLetters?: ApplicationDeadLettersProps;

  /**
   * `application.shutdown` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly shutdown?: ApplicationShutdownProps;

  /**
   * `application.logging` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly logging?: ApplicationLoggingProps;

  /**
   * `application.management` of consumer.yaml.
   *
   * @default - the default of each property
   */
  readonly management?: ApplicationManagementProps;
}
