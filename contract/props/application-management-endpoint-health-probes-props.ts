// Written by npm run generate out of consumer.yaml's schema; never edited.

/** What Kubernetes asks for. */
export interface ApplicationManagementEndpointHealthProbesProps {
  /**
   * Whether there are the components livenessState and readinessState and the groups liveness and readiness.
   *
   * @default true
   */
  readonly enabled?: boolean;

  /**
   * Whether the two groups also answer at /livez and /readyz.
   *
   * @default false
   */
  readonly 'add-additional-paths'?: boolean;
}
