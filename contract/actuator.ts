import type { Settings } from './settings.ts';

/** Where Spring Boot Actuator's web API begins (`management.endpoints.web.base-path`'s default). */
export const ACTUATOR_BASE_PATH = '/actuator';

/** Path segments below the base path; the server's routes and everything that asks them are built from these. */
export const ACTUATOR_ENDPOINT = {
  health: 'health',
  info: 'info',
  metrics: 'metrics',
  prometheus: 'prometheus',
} as const;

/** The two probe groups, as Spring Boot names them; each answers at `/actuator/health/{group}`. */
export const HEALTH_GROUP = { liveness: 'liveness', readiness: 'readiness' } as const;

/** Everything that somebody outside the process must know to ask it: probes, health check, Service, scrape job. */
export interface ManagementEndpoint {
  /** TCP port of the HTTP server. */
  readonly port: number;
  /** The port's name in the Pod, the Service and the ServiceMonitor (an IANA service name: at most 15 characters). */
  readonly portName: 'management';
  readonly scheme: 'HTTP';
  readonly basePath: string;
  readonly healthPath: string;
  readonly livenessPath: string;
  readonly readinessPath: string;
  readonly infoPath: string;
  readonly metricsPath: string;
  readonly prometheusPath: string;
}

/** The one place that derives port, scheme and paths of the operational interface from the settings. */
export function managementEndpoint(settings: Pick<Settings, 'server'>): ManagementEndpoint {
  const healthPath = `${ACTUATOR_BASE_PATH}/${ACTUATOR_ENDPOINT.health}`;
  return {
    port: settings.server.port,
    portName: 'management',
    scheme: 'HTTP',
    basePath: ACTUATOR_BASE_PATH,
    healthPath,
    livenessPath: `${healthPath}/${HEALTH_GROUP.liveness}`,
    readinessPath: `${healthPath}/${HEALTH_GROUP.readiness}`,
    infoPath: `${ACTUATOR_BASE_PATH}/${ACTUATOR_ENDPOINT.info}`,
    metricsPath: `${ACTUATOR_BASE_PATH}/${ACTUATOR_ENDPOINT.metrics}`,
    prometheusPath: `${ACTUATOR_BASE_PATH}/${ACTUATOR_ENDPOINT.prometheus}`,
  };
}
