/** Statuses of Spring Boot's health, most severe first: of several, the first one here is the whole's. */
export const STATUSES = ['DOWN', 'OUT_OF_SERVICE', 'UP', 'UNKNOWN'] as const;

/**
 * - `DOWN`: does not work
 * - `OUT_OF_SERVICE`: works, but must not be used now (starting, draining)
 * - `UP`: works
 * - `UNKNOWN`: nothing can be said; it counts for nothing beside any other status
 */
export type Status = (typeof STATUSES)[number];

/** The most severe of several statuses; `UNKNOWN` when there are none. */
export function aggregateStatus(statuses: readonly Status[]): Status {
  return STATUSES.find((status) => statuses.includes(status)) ?? 'UNKNOWN';
}

/** The HTTP status that a health answer goes out with, as Spring Boot maps it. */
export function httpStatusOf(status: Status): 200 | 503 {
  return status === 'DOWN' || status === 'OUT_OF_SERVICE' ? 503 : 200;
}
