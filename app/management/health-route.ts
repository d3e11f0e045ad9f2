import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import type { AdditionalHealthPath } from '../../settings/health.ts';
import type { HealthAnswer, HealthEndpoint } from '../health/health-endpoint.ts';
import { type Dialect, type JsonAnswer, jsonRoute } from './actuator-route.ts';
import type { IsAuthorized } from './authentication.ts';

/** Where the health is answered. */
export interface HealthRouteOptions {
  readonly endpoint: ManagementEndpoint;
  readonly additionalPaths: readonly AdditionalHealthPath[];
}

/**
 * Serves the health of the whole, of the groups and of the components, as far as the settings show them; 503 when it is
 * not good. Who is not authorized sees the status alone, and components are not there for them.
 */
export function healthRoute(
  app: FastifyInstance,
  { endpoint, additionalPaths }: HealthRouteOptions,
  health: HealthEndpoint,
  isAuthorized: IsAuthorized,
): void {
  const serve = (url: string, pathOf: (request: FastifyRequest) => readonly string[]) =>
    jsonRoute(app, url, async (request, dialect) =>
      inDialect(await health.find(pathOf(request), isAuthorized(request)), dialect),
    );
  serve(endpoint.healthPath, () => []);
  serve(`${endpoint.healthPath}/*`, segmentsOf);
  for (const { path, group } of additionalPaths) {
    serve(path, () => [group]);
  }
}

/** Segments below the health path; one slash at the end means nothing. */
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
