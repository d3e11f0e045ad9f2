import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { jsonRoute } from './json-route.ts';

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?$/i;

/** Serves the list of endpoints, as absolute links to the host that the client asked. */
export function indexRoute(app: FastifyInstance, endpoint: ManagementEndpoint): void {
  jsonRoute(app, endpoint.indexPath, (request) => {
    const origin = `${endpoint.scheme.toLowerCase()}://${hostOf(request)}`;
    const link = (path: string) => ({ href: `${origin}${path}`, templated: path.includes('{') });
    return {
      body: {
        _links: {
          self: link(endpoint.basePath),
          health: link(endpoint.healthPath),
          'health-path': link(`${endpoint.healthPath}/{*path}`),
          info: link(endpoint.infoPath),
          prometheus: link(endpoint.prometheusPath),
          'metrics-requiredMetricName': link(`${endpoint.metricsPath}/{requiredMetricName}`),
          metrics: link(endpoint.metricsPath),
        },
      },
    };
  });
}

/** The Host header; the address of the connection where there is none or where it is no host. */
function hostOf({ headers: { host = '' }, socket }: FastifyRequest): string {
  if (HOST.test(host)) {
    return host;
  }
  const { localAddress = 'localhost', localPort = 80 } = socket;
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}
