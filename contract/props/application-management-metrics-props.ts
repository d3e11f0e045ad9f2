// Written by npm run generate out of consumer.yaml's schema; never edited.

/** How metrics are exported. */
export interface ApplicationManagementMetricsProps {
  /**
   * More labels of every series.
   *
   * @default {}
   */
  readonly tags?: Readonly<Record<string, string>>;
}
