import type { Detail, Health } from './health.ts';

/** A component whose health takes asking somebody else; it is asked in the background, never by a request. */
export interface HealthIndicator {
  /** The component's name in the report and in its path. */
  readonly name: string;
  /**
   * Shown beside the error when a check fails or gives no answer.
   * @default nothing beside the error
   */
  readonly context?: Readonly<Record<string, Detail>>;
  /** Asks once. A rejection is `DOWN`. It has to settle soon after the signal aborts: until it does, it is not asked again. */
  check(signal: AbortSignal): Promise<Health>;
}
