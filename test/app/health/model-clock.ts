import type { Clock } from '../../../app/stream/ports/clock.ts';

/** Time that passes when the model says so, and wakes those that wait for it. */
export class ModelClock implements Clock {
  ms = 0;
  setBy = 0;
  #waiting: { readonly at: number; readonly wake: () => void }[] = [];

  now = (): Date => new Date(1_800_000_000_000 + this.ms + this.setBy);
  steady = (): Date => new Date(this.ms);

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (!signal?.aborted) {
      await new Promise<void>((end) => {
        const wake = () => {
          signal?.removeEventListener('abort', wake);
          end();
        };
        this.#waiting.push({ at: this.ms + ms, wake });
        signal?.addEventListener('abort', wake);
      });
    }
  }

  pass(ms: number): void {
    this.ms += ms;
    const due = this.#waiting.filter(({ at }) => at <= this.ms);
    this.#waiting = this.#waiting.filter(({ at }) => at > this.ms);
    for (const { wake } of due) wake();
  }
}
