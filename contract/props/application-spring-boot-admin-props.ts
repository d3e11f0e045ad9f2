// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationSpringBootAdminClientProps } from './application-spring-boot-admin-client-props.ts';

/** Spring Boot Admin. */
export interface ApplicationSpringBootAdminProps {
  /**
   * Registration at Spring Boot Admin.
   *
   * @default - the default of each property
   */
  readonly client?: ApplicationSpringBootAdminClientProps;
}
