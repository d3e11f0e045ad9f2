import type { Health } from './health.ts';

/** Whether the process takes work, as its owner says: the source of `readinessState`. */
export class Lifecycle {
  #phase: 'starting' | 'ready' | 'draining' = 'starting';

  /** Everything that has to be there is there. Without effect once draining began. */
  ready(): void {
    if (this.#phase === 'starting') {
      this.#phase = 'ready';
    }
  }

  /** The end began; there is no way back. */
  draining(): void {
    this.#phase = 'draining';
  }

  get isDraining(): boolean {
    return this.#phase === 'draining';
  }

  /** UP while ready, OUT_OF_SERVICE before and after. */
  get readiness(): Health {
    return { status: this.#phase === 'ready' ? 'UP' : 'OUT_OF_SERVICE' };
  }
}
