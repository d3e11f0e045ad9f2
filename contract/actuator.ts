/** Path segments below the base path; the server's routes and everything that asks them are built from these. */
export const ACTUATOR_ENDPOINT = {
  health: 'health',
  info: 'info',
  metrics: 'metrics',
  prometheus: 'prometheus',
} as const;

/** What an endpoint is called in its path and in `management.endpoints.web.exposure`. */
export type ActuatorEndpointId = keyof typeof ACTUATOR_ENDPOINT;

/** All endpoints, by their names. */
export const ACTUATOR_ENDPOINT_IDS = Object.values(ACTUATOR_ENDPOINT);

/** Which endpoints answer over HTTP: `management.endpoints.web.exposure`. */
interface Exposure {
  readonly include: readonly (ActuatorEndpointId | '*')[];
  readonly exclude: readonly (ActuatorEndpointId | '*')[];
}

/** Whether an endpoint answers; what is excluded does not, even if it is included as well. */
export function isExposed(id: ActuatorEndpointId, { include, exclude }: Exposure): boolean {
  const names = (list: Exposure['include']) => list.includes('*') || list.includes(id);
  return names(include) && !names(exclude);
}

/** Where Spring Boot Actuator's web API begins (`management.endpoints.web.base-path`'s default). */
export const ACTUATOR_BASE_PATH = '/actuator';

/** The two probe groups, as Spring Boot names them; each answers at `/actuator/health/{group}`. */
export const HEALTH_GROUP = { liveness: 'liveness', readiness: 'readiness' } as const;

/** The settings that the operational interface's place and access follow from. */
export interface EndpointSettings {
  readonly server: { readonly port: number; readonly address: string; readonly ssl?: object };
  readonly management: {
    readonly server: { readonly port?: number; readonly address?: string };
    readonly endpoints: { readonly web: { readonly 'base-path': string } };
    readonly security: { readonly token?: string; readonly username?: string };
  };
}

/** All that a request from outside of the process needs: of probes, health check, Service and scrape job. */
export interface ManagementEndpoint {
  /** TCP port of the HTTP server. */
  readonly port: number;
  /** Address the HTTP server listens on. */
  readonly address: string;
  /** The settings that port and address came from. */
  readonly settings: {
    readonly port: 'server.port' | 'management.server.port';
    readonly address: 'server.address' | 'management.server.address';
  };
  /** The port's name in the Pod, the Service and the ServiceMonitor (an IANA service name: at most 15 characters). */
  readonly portName: 'management';
  /** As Kubernetes' probes spell it; with HTTPS they do not verify the certificate. */
  readonly scheme: 'HTTP' | 'HTTPS';
  /**
   * What all but the health wants to see, and the health before it shows more than its status: the token where there is
   * one, else user and password. `undefined`: nothing.
   */
  readonly credential: 'bearer' | 'basic' | undefined;
  /** What every other path begins with; empty at the root. */
  readonly basePath: string;
  /** The list of endpoints: the base path, or `/` where that is empty. */
  readonly indexPath: string;
  readonly healthPath: string;
  readonly livenessPath: string;
  readonly readinessPath: string;
  readonly infoPath: string;
  readonly metricsPath: string;
  readonly prometheusPath: string;
}

function credentialOf({ token, username }: EndpointSettings['management']['security']) {
  if (token !== undefined) {
    return 'bearer';
  }
  return username === undefined ? undefined : 'basic';
}

/** The one place that derives port, scheme, paths and access of the operational interface from the settings. */
export function managementEndpoint({ server, management }: EndpointSettings): ManagementEndpoint {
  const basePath = management.endpoints.web['base-path'].replace(/\/$/, '');
  const healthPath = `${basePath}/${ACTUATOR_ENDPOINT.health}`;
  return {
    port: management.server.port ?? server.port,
    address: management.server.address ?? server.address,
    settings: {
      port: management.server.port === undefined ? 'server.port' : 'management.server.port',
      address: management.server.address === undefined ? 'server.address' : 'management.server.address',
    },
    portName: 'management',
    scheme: server.ssl === undefined ? 'HTTP' : 'HTTPS',
    credential: credentialOf(management.security),
    basePath,
    indexPath: basePath === '' ? '/' : basePath,
    healthPath,
    livenessPath: `${healthPath}/${HEALTH_GROUP.liveness}`,
    readinessPath: `${healthPath}/${HEALTH_GROUP.readiness}`,
    infoPath: `${basePath}/${ACTUATOR_ENDPOINT.info}`,
    metricsPath: `${basePath}/${ACTUATOR_ENDPOINT.metrics}`,
    prometheusPath: `${basePath}/${ACTUATOR_ENDPOINT.prometheus}`,
  };
}
