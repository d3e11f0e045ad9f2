import type { Clock } from '../stream/clock.ts';
import { backoffMs } from '../stream/retries.ts';

/** A client that worked for this long after a restart has come over what made it crash. */
const CALM_MS = 30_000;

/**
 * Keeps the restarts of a client that crashes again and again further apart, up to 5 s. The time that it took to crash
 * counts: a client that tried for long enough before it gave up starts again at once.
 */
export class RestartPace {
  readonly #clock: Clock;
  #crashes = 0;
  #restartedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the client may start again, or at once when the signal is (or gets) aborted. */
  async afterCrash(signal: AbortSignal): Promise<void> {
    const worked = this.#clock.steady().getTime() - this.#restartedAt;
    this.#crashes = worked >= CALM_MS ? 0 : this.#crashes + 1;
    const pause = this.#crashes === 0 ? 0 : backoffMs(this.#crashes) - worked;
    if (pause > 0) {
      await this.#clock.wait(pause, signal);
    }
    this.#restartedAt = this.#clock.steady().getTime();
  }
}
