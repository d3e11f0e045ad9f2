// Written by npm run generate out of consumer.yaml's schema; never edited.

/** HTTP status of each health status. Left out: 503 for down and out-of-service, 200 for the others. */
export interface ApplicationManagementEndpointHealthGroupStatusHttpMappingProps {
  /**
   * HTTP status of an answer whose health is DOWN. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly down?: number;

  /**
   * HTTP status of an answer whose health is OUT_OF_SERVICE. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly 'out-of-service'?: number;

  /**
   * HTTP status of an answer whose health is UP. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly up?: number;

  /**
   * HTTP status of an answer whose health is UNKNOWN. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly unknown?: number;
}
