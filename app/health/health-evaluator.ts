import { HEALTH_EVALUATION_INTERVAL_MS } from '../../contract/alerts.ts';
import { LIVENESS_PROBE } from '../../contract/probes.ts';
import type { Status } from './health.ts';

/** Time after the start, in milliseconds, from which "not UP yet" is a failure: the liveness probe's initial delay. */
export const START_PERIOD_MS = LIVENESS_PROBE.initialDelaySeconds * 1_000;

/** What is evaluated. */
export interface HealthEvaluatorOptions {
  /** The status of the root health. */
  readonly status: () => Promise<Status>;
  /** While true, nothing is evaluated: during the shutdown, not being UP is no failure. */
  readonly isDraining: () => boolean;
}

/**
 * Evaluates the root health at the start and every {@link HEALTH_EVALUATION_INTERVAL_MS}, and counts the evaluations in
 * a row that were not UP. A consumer that starts is not UP yet, which calls for no alert: failures count from the first
 * UP on, or after {@link START_PERIOD_MS}, whichever comes first.
 */
export class HealthEvaluator {
  readonly #options: HealthEvaluatorOptions;
  #failures = 0;
  #counts = false;
  #timers: NodeJS.Timeout[] = [];

  constructor(options: HealthEvaluatorOptions) {
    this.#options = options;
  }

  /** Evaluations in a row, up to the last one, that were not UP. */
  get consecutiveFailures(): number {
    return this.#failures;
  }

  /** Evaluates now and from now on. */
  start(): void {
    const startPeriod = setTimeout(() => {
      this.#counts = true;
    }, START_PERIOD_MS);
    const interval = setInterval(() => void this.#evaluate(), HEALTH_EVALUATION_INTERVAL_MS);
    this.#timers = [startPeriod, interval];
    void this.#evaluate();
  }

  /** Ends; no timer stays behind. */
  stop(): void {
    for (const timer of this.#timers) {
      clearTimeout(timer);
    }
  }

  async #evaluate(): Promise<void> {
    const status = await this.#options.status();
    if (this.#options.isDraining()) {
      return;
    }
    if (status === 'UP') {
      this.#counts = true;
      this.#failures = 0;
    } else if (this.#counts) {
      this.#failures += 1;
    }
  }
}
