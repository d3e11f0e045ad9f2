// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `application.management.metrics` of consumer.yaml. */
export interface ApplicationManagementMetricsProps {
  /**
   * More labels of every series.
   *
   * @default {}
   */
  readonly tags?: Readonly<Record<string, string>>;
}
