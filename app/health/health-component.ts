import type { Health } from './health.ts';

/** One line of the health report: what is known of it now, without asking anybody. */
export interface HealthComponent {
  readonly name: string;
  /** Resolves as soon as {@link current} knows something. */
  readonly known: Promise<void>;
  /** What is known; `undefined` before the first result. */
  current(): Health | undefined;
}

/** A component whose health the process knows by itself: it is read anew for each answer. */
export function stateComponent(name: string, read: () => Health): HealthComponent {
  return { name, known: Promise.resolve(), current: read };
}
