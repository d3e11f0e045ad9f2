import type { Settings } from '../../settings/settings.ts';

/** What a health detail may hold: JSON, so that an answer can show it as it is. */
export type Detail = string | number | boolean | null | readonly Detail[] | { readonly [name: string]: Detail };

/** The health of one component; details are for a person on call and never hold a secret or a record's content. */
export interface Health {
  readonly status: Status;
  readonly details?: Readonly<Record<string, Detail>>;
}

/** One component of the health report, with its last known health: reading it waits for nothing. */
export interface HealthComponent {
  readonly name: string;
  /** Resolves as soon as {@link current} knows something. */
  readonly known: Promise<void>;
  /** What is known; `undefined` before the first result. */
  current(): Health | undefined;
}

/** A component whose health is the process's own state, read anew for each answer. */
export function stateComponent(name: string, read: () => Health): HealthComponent {
  return { name, known: Promise.resolve(), current: read };
}

/** Statuses of Spring Boot's health, most severe first: the aggregated status is the first that a component has. */
const STATUSES = ['DOWN', 'OUT_OF_SERVICE', 'UP', 'UNKNOWN'] as const;

/**
 * - `DOWN`: does not work
 * - `OUT_OF_SERVICE`: works, but must not be used now (starting, draining)
 * - `UP`: works
 * - `UNKNOWN`: not known; any other status beside it takes precedence
 */
export type Status = (typeof STATUSES)[number];

/** How several statuses are aggregated to one, and the HTTP status of the answer. */
export interface StatusRules {
  /** Most severe first; a status that is not in it is ignored. */
  readonly order: readonly Status[];
  /** HTTP statuses other than 200. */
  readonly http: Readonly<Partial<Record<Status, number>>>;
}

/** Spring Boot's own rules. */
export const DEFAULT_STATUS_RULES: StatusRules = { order: STATUSES, http: { DOWN: 503, OUT_OF_SERVICE: 503 } };

type StatusSettings = Settings['management']['endpoint']['health']['status'];

const STATUS_OF = { down: 'DOWN', 'out-of-service': 'OUT_OF_SERVICE', up: 'UP', unknown: 'UNKNOWN' } as const;

/** The rules of the settings; what these leave out is as in `inherited`. */
export function statusRules({ order, 'http-mapping': http }: StatusSettings, inherited: StatusRules): StatusRules {
  const mapping = Object.entries(http ?? {}).map(([name, code]) => [STATUS_OF[name as keyof typeof STATUS_OF], code]);
  return {
    order: order?.map((name) => STATUS_OF[name]) ?? inherited.order,
    http: mapping.length === 0 ? inherited.http : Object.fromEntries(mapping),
  };
}

/** The most severe of several statuses; `UNKNOWN` when none of them counts. */
export function aggregateStatus(statuses: readonly Status[], { order }: StatusRules): Status {
  return order.find((status) => statuses.includes(status)) ?? 'UNKNOWN';
}

/** The HTTP status of a health answer. */
export function httpStatusOf(status: Status, { http }: StatusRules): number {
  return http[status] ?? 200;
}
