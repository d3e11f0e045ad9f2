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
import type { ApplicationSpringProps } from './application-spring-props.ts';

/** Settings of the consumer, as in application.yml; they go into the ConfigMap. */
export interface ApplicationProps {
  /**
   * Where the operational interface listens.
   *
   * @default - the default of each property
   */
  readonly server?: ApplicationServerProps;

  /** How Kafka is reached and what is read from it. */
  readonly kafka: ApplicationKafkaProps;

  /**
   * How PostgreSQL is reached.
   *
   * @default - the default of each property
   */
  readonly database?: ApplicationDatabaseProps;

  /**
   * How records are read and written.
   *
   * @default - the default of each property
   */
  readonly consumer?: ApplicationConsumerProps;

  /**
   * How records become rows.
   *
   * @default - the default of each property
   */
  readonly records?: ApplicationRecordsProps;

  /**
   * What becomes of records that PostgreSQL cannot store.
   *
   * @default - the default of each property
   */
  readonly deadLetters?: ApplicationDeadLettersProps;

  /**
   * How the process ends.
   *
   * @default - the default of each property
   */
  readonly shutdown?: ApplicationShutdownProps;

  /**
   * What is logged.
   *
   * @default - the default of each property
   */
  readonly logging?: ApplicationLoggingProps;

  /**
   * What the operational interface shows.
   *
   * @default - the default of each property
   */
  readonly management?: ApplicationManagementProps;

  /**
   * Shown by /actuator/info under this name; values are texts, lists of them, or maps.
   *
   * @default {}
   */
  readonly info?: Readonly<Record<string, unknown>>;

  /**
   * Spring's own settings.
   *
   * @default - the default of each property
   */
  readonly spring?: ApplicationSpringProps;
}
