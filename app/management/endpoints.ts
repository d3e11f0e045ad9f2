import type { FastifyInstance } from 'fastify';
import type { ActuatorEndpointId, ManagementEndpoint } from '../../contract/actuator.ts';
import { additionalHealthPaths } from '../../settings/health.ts';
import { exposedEndpoints } from '../../settings/management.ts';
import type { Settings } from '../../settings/settings.ts';
import type { ProductBuild } from '../configuration/product-build.ts';
import type { HealthEndpoint } from '../health/health-endpoint.ts';
import type { MetricReader } from '../metrics/metric-reading.ts';
import type { IsAuthorized } from './authentication.ts';
import { healthRoute } from './health-route.ts';
import { indexRoute } from './index-route.ts';
import { infoRoute } from './info-route.ts';
import { metricsRoute } from './metrics-route.ts';
import { type MetricsWriter, prometheusRoute } from './prometheus-route.ts';

/** What the endpoints answer from. */
export interface EndpointSources {
  readonly endpoint: ManagementEndpoint;
  readonly settings: Pick<Settings, 'info' | 'management'>;
  readonly build: ProductBuild;
  readonly health: HealthEndpoint;
  readonly metrics: { readonly write: MetricsWriter; readonly reader: MetricReader };
  readonly isAuthorized: IsAuthorized;
}

/** Serves the endpoints that the settings expose, and links to them unless the settings say no. */
export function serveEndpoints(app: FastifyInstance, sources: EndpointSources): void {
  const { endpoint, settings, health, metrics, isAuthorized } = sources;
  const exposed = exposedEndpoints(settings);
  const serve: Readonly<Record<ActuatorEndpointId, () => void>> = {
    health: () => {
      const additionalPaths = additionalHealthPaths(settings);
      healthRoute(app, { endpoint, additionalPaths }, health, isAuthorized);
    },
    info: () => infoRoute(app, sources),
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
