import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { type HttpRequests, UNKNOWN } from '../metrics/process/http-server-requests.ts';

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
