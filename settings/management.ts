import { Type } from 'typebox';
import { endpointHealth } from './health.ts';
import { managementEndpoints } from './management-endpoints.ts';
import { managementHealth } from './management-health.ts';
import { managementInfo } from './management-info.ts';
import { managementMetrics } from './management-metrics.ts';
import { managementSecurity } from './management-security.ts';
import { managementServer } from './management-server.ts';
import { section } from './section.ts';

/** What the operational interface answers, with the names that Spring Boot Actuator has for it. */
export const management = Type.Object(
  {
    server: managementServer,
    endpoints: managementEndpoints,
    security: managementSecurity,
    endpoint: Type.Object({ health: endpointHealth }, { ...section, description: 'How single endpoints answer.' }),
    health: managementHealth,
    info: managementInfo,
    metrics: managementMetrics,
  },
  { ...section, description: 'What the operational interface shows.' },
);
