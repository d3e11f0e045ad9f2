import { ACTUATOR_ENDPOINT_IDS, type ActuatorEndpointId } from '../contract/actuator-endpoints.ts';
import type { Settings } from './settings.ts';

/** The endpoints that answer: those that `management.endpoints.web.exposure` includes and does not exclude. */
export function exposedEndpoints({ management }: Pick<Settings, 'management'>): ReadonlySet<ActuatorEndpointId> {
  const { include, exclude } = management.endpoints.web.exposure;
  const isIn = (list: readonly string[], id: string) => list.includes('*') || list.includes(id);
  return new Set(ACTUATOR_ENDPOINT_IDS.filter((id) => isIn(include, id) && !isIn(exclude, id)));
}
