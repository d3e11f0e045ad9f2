// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationSpringBootAdminClientInstanceProps } from './application-spring-boot-admin-client-instance-props.ts';

/** Registration at Spring Boot Admin. */
export interface ApplicationSpringBootAdminClientProps {
  /**
   * Servers to register at, as their users see them. Left out: none, and nobody is asked.
   *
   * @default []
   */
  readonly url?: readonly string[];

  /**
   * Time between two registrations; a server that was started anew knows nobody.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, such as 500ms, 30s, 5m.
   *
   * @default '10s'
   */
  readonly period?: string;

  /**
   * Whether the first server that answers is enough. false: each of them is told.
   *
   * @default true
   */
  readonly 'register-once'?: boolean;

  /**
   * Whether the consumer signs off when it ends.
   *
   * @default true
   */
  readonly 'auto-deregistration'?: boolean;

  /**
   * What the server is told.
   *
   * @default - the default of each property
   */
  readonly instance?: ApplicationSpringBootAdminClientInstanceProps;
}
