import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ActuatorEndpointId, ManagementEndpoint } from '../../contract/actuator.ts';
import { jsonRoute } from './actuator-route.ts';

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?$/i;

/** The links of each endpoint below the base path, by the names that Spring Boot gives them. */
const LINKS: Readonly<Record<ActuatorEndpointId, (endpoint: ManagementEndpoint) => Readonly<Record<string, string>>>> =
  {
    health: ({ healthPath }) => ({ health: healthPath, 'health-path': `${healthPath}/{*path}` }),
    info: ({ infoPath }) => ({ info: infoPath }),
    prometheus: ({ prometheusPath }) => ({ prometheus: prometheusPath }),
    metrics: ({ metricsPath }) => ({
      'metrics-requiredMetricName': `${metricsPath}/{requiredMetricName}`,
      metrics: metricsPath,
    }),
  };

/** Serves the list of the exposed endpoints, as absolute links to the host that the client asked. */
export function indexRoute(
  app: FastifyInstance,
  endpoint: ManagementEndpoint,
  exposed: ReadonlySet<ActuatorEndpointId>,
): void {
  const ids = (Object.keys(LINKS) as ActuatorEndpointId[]).filter((id) => exposed.has(id));
  const paths = Object.assign({ self: endpoint.basePath }, ...ids.map((id) => LINKS[id](endpoint)));
  jsonRoute(app, endpoint.indexPath, (request) => {
    const origin = `${endpoint.scheme.toLowerCase()}://${hostOf(request)}`;
    const links = Object.entries<string>(paths).map(([name, path]) => [
      name,
      { href: `${origin}${path}`, templated: path.includes('{') },
    ]);
    return { body: { _links: Object.fromEntries(links) } };
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
