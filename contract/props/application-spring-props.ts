// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationSpringBootProps } from './application-spring-boot-props.ts';

/** Spring's own settings. */
export interface ApplicationSpringProps {
  /**
   * Spring Boot's own settings.
   *
   * @default - the default of each property
   */
  readonly boot?: ApplicationSpringBootProps;
}
