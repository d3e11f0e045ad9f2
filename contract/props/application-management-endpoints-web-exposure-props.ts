// Written by npm run generate out of consumer.yaml's schema; never edited.

/** Which endpoints answer. */
export interface ApplicationManagementEndpointsWebExposureProps {
  /**
   * Endpoints that answer; * is all of them. Any other is 404 and in no link. Probes and health check ask health.
   *
   * @default ["*"]
   */
  readonly include?: readonly ('health' | 'info' | 'metrics' | 'prometheus' | '*')[];

  /**
   * Endpoints that do not answer although they are included; * is all of them.
   *
   * @default []
   */
  readonly exclude?: readonly ('health' | 'info' | 'metrics' | 'prometheus' | '*')[];
}
