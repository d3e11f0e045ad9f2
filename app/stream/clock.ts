/** Time, as the pipeline sees it; injected, so that tests need none to pass. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms`, or at once when the signal is (or gets) aborted. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}
