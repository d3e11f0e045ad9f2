// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationSpringBootAdminProps } from './application-spring-boot-admin-props.ts';

/** Spring Boot's own settings. */
export interface ApplicationSpringBootProps {
  /**
   * Spring Boot Admin.
   *
   * @default - the default of each property
   */
  readonly admin?: ApplicationSpringBootAdminProps;
}
