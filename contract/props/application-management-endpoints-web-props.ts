// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `application.management.endpoints.web` of consumer.yaml. */
export interface ApplicationManagementEndpointsWebProps {
  /**
   * Path that all endpoints begin with; a slash at its end is cut, and empty serves them at the root.
   *
   * Allowed: an empty text, or segments of letters, digits and . _ ~ - that each begin with a slash.
   *
   * @default '/actuator'
   */
  readonly 'base-path'?: string;
}
