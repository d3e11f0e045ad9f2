import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import type { HealthEndpoint, RootHealth } from '../health/health-endpoint.ts';
import { httpStatusOf, type Status } from '../health/status.ts';
import { type Dialect, type JsonAnswer, jsonRoute } from './json-route.ts';

/** Serves the health of the whole, of the groups (their status alone) and of the components; 503 when it is not good. */
export function healthRoute(app: FastifyInstance, endpoint: ManagementEndpoint, health: HealthEndpoint): void {
  jsonRoute(app, endpoint.healthPath, async (_request, dialect) => rootAnswer(await health.root(), dialect));
  jsonRoute(app, `${endpoint.healthPath}/*`, async (request, dialect) => {
    const [name, ...deeper] = segmentsOf(request);
    if (name === undefined) {
      return rootAnswer(await health.root(), dialect);
    }
    return deeper.length === 0 ? namedAnswer(health, name) : undefined;
  });
}

/** Segments below the health path; one slash at the end means nothing. */
function segmentsOf(request: FastifyRequest): string[] {
  const { '*': path = '' } = request.params as { '*'?: string };
  return path === '' ? [] : path.replace(/\/$/, '').split('/');
}

async function namedAnswer(health: HealthEndpoint, name: string): Promise<JsonAnswer | undefined> {
  const groupStatus = await health.group(name);
  if (groupStatus !== undefined) {
    return answer({ status: groupStatus });
  }
  const component = await health.component(name);
  return component && answer(component);
}

function rootAnswer({ status, groups, components }: RootHealth, dialect: Dialect): JsonAnswer {
  const body = { status, groups, [dialect === 'v2' ? 'details' : 'components']: components };
  return answer(body);
}

function answer(body: { readonly status: Status }): JsonAnswer {
  return { status: httpStatusOf(body.status), body };
}
