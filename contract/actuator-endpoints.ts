/** Path segments below the base path; the server's routes and everything that asks them are built from these. */
export const ACTUATOR_ENDPOINT = {
  health: 'health',
  info: 'info',
  metrics: 'metrics',
  prometheus: 'prometheus',
} as const;

/** What an endpoint is called in its path and in `management.endpoints.web.exposure`. */
export type ActuatorEndpointId = keyof typeof ACTUATOR_ENDPOINT;

/** All endpoints, by their names. */
export const ACTUATOR_ENDPOINT_IDS = Object.values(ACTUATOR_ENDPOINT);

/** Which endpoints answer over HTTP: `management.endpoints.web.exposure`. */
export interface Exposure {
  readonly include: readonly (ActuatorEndpointId | '*')[];
  readonly exclude: readonly (ActuatorEndpointId | '*')[];
}

/** Whether an endpoint answers; what is excluded does not, even if it is included as well. */
export function isExposed(id: ActuatorEndpointId, { include, exclude }: Exposure): boolean {
  const names = (list: Exposure['include']) => list.includes('*') || list.includes(id);
  return names(include) && !names(exclude);
}
