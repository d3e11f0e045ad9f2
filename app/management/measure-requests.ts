import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import type { HttpRequests } from '../metrics/http-requests.ts';

/** Spring's word for an answer that says nothing about a route: a method or a type that cannot be had. */
const UNKNOWN = 'UNKNOWN';
const NOWHERE = '/**';

/** Answers of the server itself, which come before or beside any route's. */
const WITHOUT_ROUTE: ReadonlySet<number> = new Set([405, 406]);

/** The template of a route as Spring writes it. */
const templateOf = (url: string): string =>
  url.replace(/:name(\(.*\))?$/, '{requiredMetricName}').replace(/\/\*$/, '/**');

function uriOf({ is404, method, routeOptions }: FastifyRequest, status: number): string {
  if (is404) {
    return NOWHERE;
  }
  const isKnown = routeOptions.url !== undefined && method !== 'OPTIONS' && !WITHOUT_ROUTE.has(status);
  return isKnown ? templateOf(routeOptions.url ?? '') : UNKNOWN;
}

/**
 * Measures every request; has to be called before the routes are added. A GET of each route that is answered with 200, and
 * with 503 where health is asked, has its series from the start.
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
