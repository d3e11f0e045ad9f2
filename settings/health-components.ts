/** Names of the health components, as the report and a group's members call them. */
export const HEALTH_COMPONENTS = [
  'consumer',
  'db',
  'diskSpace',
  'kafka',
  'livenessState',
  'ping',
  'readinessState',
] as const;

/** Name of a health component. */
export type HealthComponentName = (typeof HEALTH_COMPONENTS)[number];

/** Components that exist only while `management.endpoint.health.probes.enabled` is true. */
export const PROBE_COMPONENTS: readonly HealthComponentName[] = ['livenessState', 'readinessState'];
