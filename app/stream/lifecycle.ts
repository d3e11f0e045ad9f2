import type { ConsumerState } from './consumer-state.ts';

/**
 * The consumer's states and the only ways between them:
 *
 * ```text
 * starting ─► assigning ─► running ◄─► paused
 *                 ▲  ▲________│___________│      (a rebalance assigns again)
 * any of these ─► draining ─► stopped
 * any but stopped ─► failed
 * ```
 *
 * `stopped` and `failed` are final, with one exception: a consumer that failed is still drained and closed in order, but
 * stays `failed`, because that is what its exit code says.
 */
const NEXT: Readonly<Record<ConsumerState, readonly ConsumerState[]>> = {
  starting: ['assigning', 'draining', 'failed'],
  assigning: ['running', 'paused', 'draining', 'failed'],
  running: ['assigning', 'paused', 'draining', 'failed'],
  paused: ['running', 'assigning', 'draining', 'failed'],
  draining: ['stopped', 'failed'],
  stopped: [],
  failed: [],
};

/** Keeps the state and refuses a way that is not in the table above. */
export class Lifecycle {
  #state: ConsumerState = 'starting';

  get state(): ConsumerState {
    return this.#state;
  }

  /** Whether no state but `stopped` or `failed` can follow: the time of fetching is over. */
  get isEnding(): boolean {
    return this.#state === 'draining' || this.#state === 'stopped' || this.#state === 'failed';
  }

  /**
   * Goes to `state`; being there already is no change.
   *
   * @throws Error when there is no way from the current state: a mistake in the program, never in its input
   */
  to(state: ConsumerState): void {
    if (state === this.#state) {
      return;
    }
    if (!NEXT[this.#state].includes(state)) {
      throw new Error(`lifecycle: there is no way from ${this.#state} to ${state}`);
    }
    this.#state = state;
  }
}
