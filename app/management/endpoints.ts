import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ActuatorEndpointId, ManagementEndpoint } from '../../contract/actuator.ts';
import { additionalHealthPaths } from '../../settings/sections/health.ts';
import { exposedEndpoints } from '../../settings/sections/management.ts';
import type { Settings } from '../../settings/settings.ts';
import type { HealthAnswer, HealthEndpoint } from '../health/health-endpoint.ts';
import type { MetricReader } from '../metrics/exposition/metric-reading.ts';
import { type HttpRequests, UNKNOWN } from '../metrics/process/http-server-requests.ts';
import type { ProductBuild } from '../metrics/process/product-build.ts';
import { type Dialect, type JsonAnswer, jsonRoute } from './actuator-route.ts';
import type { IsAuthorized } from './authentication.ts';
import { infoRoute } from './info-route.ts';
import { type MetricsWriter, prometheusRoute } from './prometheus-route.ts';

/** What the endpoints answer from. */
interface EndpointSources {
  readonly endpoint: ManagementEndpoint;
  readonly settings: Pick<Settings, 'info' | 'management'>;
  readonly build: ProductBuild;
  readonly health: HealthEndpoint;
  readonly metrics: { readonly write: MetricsWriter; readonly reader: MetricReader };
  readonly isAuthorized: IsAuthorized;
}

/** Serves the endpoints that the settings expose, and links to them unless the settings say no. */
export function serveEndpoints(app: FastifyInstance, sources: EndpointSources): void {
  const { endpoint, settings, build, metrics } = sources;
  const exposed = exposedEndpoints(settings);
  const serve: Readonly<Record<ActuatorEndpointId, () => void>> = {
    health: () => healthRoute(app, sources),
    info: () => infoRoute(app, endpoint, { settings, build, metrics: metrics.reader }),
    prometheus: () => prometheusRoute(app, endpoint, metrics.write),
    metrics: () => metricsRoute(app, endpoint, metrics.reader),
  };
  if (settings.management.endpoints.web.discovery.enabled) {
    indexRoute(app, endpoint, exposed);
  }
  for (const id of exposed) {
    serve[id]();
  }
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?$/i;

/** The links of each endpoint below the base path, by their names in Spring Boot. */
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

/** Serves the list of the exposed endpoints, as absolute links with the request's host. */
function indexRoute(
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

/** The Host header; the local address of the connection where it is missing or not a host. */
function hostOf({ headers: { host = '' }, socket }: FastifyRequest): string {
  if (HOST.test(host)) {
    return host;
  }
  const { localAddress = 'localhost', localPort = 80 } = socket;
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/**
 * Serves the health of the whole, of the groups and of the components, as far as the settings show them; 503 when it is
 * not good. A request without the credential gets the status alone, and 404 for a component.
 */
function healthRoute(app: FastifyInstance, sources: EndpointSources): void {
  const { endpoint, settings, health, isAuthorized } = sources;
  const serve = (url: string, pathOf: (request: FastifyRequest) => readonly string[]) =>
    jsonRoute(app, url, async (request, dialect) =>
      inDialect(await health.find(pathOf(request), isAuthorized(request)), dialect),
    );
  serve(endpoint.healthPath, () => []);
  serve(`${endpoint.healthPath}/*`, segmentsOf);
  for (const { path, group } of additionalHealthPaths(settings)) {
    serve(path, () => [group]);
  }
}

/** Segments below the health path; one slash at the end is ignored. */
function segmentsOf(request: FastifyRequest): string[] {
  const { '*': path = '' } = request.params as { '*'?: string };
  return path === '' ? [] : path.replace(/\/$/, '').split('/');
}

function inDialect(answer: HealthAnswer | undefined, dialect: Dialect): JsonAnswer | undefined {
  if (answer === undefined) {
    return undefined;
  }
  const { components, ...report } = answer.report;
  const key = dialect === 'v2' ? 'details' : 'components';
  return { status: answer.httpStatus, body: components === undefined ? report : { ...report, [key]: components } };
}

type Tag = readonly [string, string];

/**
 * Serves the names of the metrics and each one's figures, by `?tag=KEY:VALUE` those of the series that carry the tag.
 */
function metricsRoute(app: FastifyInstance, endpoint: ManagementEndpoint, reader: MetricReader): void {
  jsonRoute(app, endpoint.metricsPath, () => ({ body: { names: reader.names } }));
  app.addHook('onSend', async (request, reply) => {
    const { name } = request.params as { name?: string };
    // Spring guards answers at paths that end like a file name against being saved and run as a file, empty ones apart.
    if (name?.includes('.') && reply.hasHeader('content-type')) {
      reply.header('content-disposition', 'inline;filename=f.txt');
    }
  });
  jsonRoute(app, `${endpoint.metricsPath}/:name(^.+$)`, (request) => {
    const tags = tagsOf(request);
    if (tags === undefined) {
      return 400;
    }
    const body = reader.read((request.params as { name: string }).name, tags);
    return body && { body };
  });
}

/**
 * The tags of the query; `undefined` when one of them is not KEY:VALUE. A single parameter may hold several, by commas.
 */
function tagsOf(request: FastifyRequest): readonly Tag[] | undefined {
  const { tag = '' } = request.query as { tag?: string | string[] };
  if (tag === '') {
    return [];
  }
  const tags = (typeof tag === 'string' ? tag.split(',') : tag).map(parseTag);
  return tags.every((parsed) => parsed !== undefined) ? tags : undefined;
}

function parseTag(text: string): Tag | undefined {
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : [text.slice(0, colon), text.slice(colon + 1)];
}

/** Spring's label `uri` of an answer 404. */
const NOT_FOUND = '/**';

/** Statuses of the server's own answers, which come before a route's. */
const WITHOUT_ROUTE: ReadonlySet<number> = new Set([405, 406]);

/** The path template of a route as Spring writes it. */
const templateOf = (url: string): string =>
  url.replace(/:name(\(.*\))?$/, '{requiredMetricName}').replace(/\/\*$/, '/**');

function uriOf({ is404, method, routeOptions }: FastifyRequest, status: number): string {
  if (is404) {
    return NOT_FOUND;
  }
  const isKnown = routeOptions.url !== undefined && method !== 'OPTIONS' && !WITHOUT_ROUTE.has(status);
  return isKnown ? templateOf(routeOptions.url ?? '') : UNKNOWN;
}

/**
 * Measures every request; has to be called before the routes are added. Each route has its series of a GET with status
 * 200 from the start, those of the health one with 503, too.
 */
export function measureRequests(
  app: FastifyInstance,
  { healthPath }: Pick<ManagementEndpoint, 'healthPath'>,
  requests: HttpRequests,
): void {
  app.addHook('onRoute', ({ method, url }) => {
    if (method === 'GET') {
      requests.expect({ method, uri: templateOf(url) }, 200);
      if (url.startsWith(healthPath)) {
        requests.expect({ method, uri: templateOf(url) }, 503);
      }
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    requests.began(request, request.method);
    reply.raw.once('close', () => requests.ended(request));
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request;
    const seconds = reply.elapsedTime / 1_000;
    requests.answered({ method, uri: uriOf(request, reply.statusCode) }, reply.statusCode, seconds);
    requests.ended(request);
  });
}
