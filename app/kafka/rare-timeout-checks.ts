/** Requests may take 30 s: when one takes longer, a second more does not matter. */
const CHECK_MS = 1_000;

interface SocketRequest {
  /** By the monotonic clock (monotonic-time.ts). */
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

/** The part of kafkajs's request queue, one per connection, that gives up on requests. */
interface RequestQueue {
  readonly enforceRequestTimeout: boolean;
  readonly inflight: ReadonlyMap<unknown, SocketRequest>;
  readonly isConnected: () => boolean;
  requestTimeoutIntervalId?: NodeJS.Timeout;
  destroy(): void;
  scheduleRequestTimeoutCheck(): void;
}

/**
 * Looks once a second whether a request was left without an answer for too long. As shipped each connection looks ten times
 * a second, whether or not anything was asked.
 */
export function checkTimeoutsRarely(prototype: RequestQueue): void {
  prototype.scheduleRequestTimeoutCheck = function scheduleRarely(this: RequestQueue) {
    if (!this.enforceRequestTimeout) {
      return;
    }
    this.destroy();
    this.requestTimeoutIntervalId = setInterval(() => {
      for (const request of [...this.inflight.values()]) {
        if (performance.now() - request.sentAt > request.requestTimeout) {
          request.timeoutRequest();
        }
      }
      if (!this.isConnected()) {
        this.destroy();
      }
    }, CHECK_MS);
  };
}
