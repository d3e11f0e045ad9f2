import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import type { HealthEndpoint, RootHealth } from '../health/health-endpoint.ts';
import { httpStatusOf, type Status } from '../health/status.ts';
import type { IsAuthorized } from './access.ts';
import { type Dialect, type JsonAnswer, jsonRoute } from './json-route.ts';

/**
 * Serves the health of the whole, of the groups (their status alone) and of the components; 503 when it is not good.
 * Who is not authorized sees the status alone, and components are not there for them.
 */
export function healthRoute(
  app: FastifyInstance,
  endpoint: ManagementEndpoint,
  health: HealthEndpoint,
  isAuthorized: IsAuthorized,
): void {
  const root = async (request: FastifyRequest, dialect: Dialect) => {
    const { components, ...status } = await health.root();
    return isAuthorized(request) ? rootAnswer({ ...status, components }, dialect) : answer(status);
  };
  jsonRoute(app, endpoint.healthPath, root);
  jsonRoute(app, `${endpoint.healthPath}/*`, async (request, dialect) => {
    const [name, ...deeper] = segmentsOf(request);
    if (name === undefined) {
      return root(request, dialect);
    }
    return deeper.length === 0 ? namedAnswer(health, name, isAuthorized(request)) : undefined;
  });
}

/** Segments below the health path; one slash at the end means nothing. */
function segmentsOf(request: FastifyRequest): string[] {
  const { '*': path = '' } = request.params as { '*'?: string };
  return path === '' ? [] : path.replace(/\/$/, '').split('/');
}

async function namedAnswer(
  health: HealthEndpoint,
  name: string,
  isAuthorized: boolean,
): Promise<JsonAnswer | undefined> {
  const groupStatus = await health.group(name);
  if (groupStatus !== undefined) {
    return answer({ status: groupStatus });
  }
  const component = isAuthorized ? await health.component(name) : undefined;
  return component && answer(component);
}

function rootAnswer({ status, groups, components }: RootHealth, dialect: Dialect): JsonAnswer {
  const body = { status, groups, [dialect === 'v2' ? 'details' : 'components']: components };
  return answer(body);
}

function answer(body: { readonly status: Status }): JsonAnswer {
  return { status: httpStatusOf(body.status), body };
}
