import { type MetricSources, optional } from '../exposition/metric-source.ts';
import { TimeWindowMax } from '../exposition/time-windows.ts';

/** What matters lasts for a second or more, and ten wake-ups a second cost nothing. */
const LOOK_EVERY_MS = 100;

/** Watches how late the event loop is: while JavaScript runs in one go, no probe, heartbeat or record has its turn. */
export class EventLoopLag {
  readonly #max: TimeWindowMax;
  #lastLook: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param now Clock of the decaying maximum, in milliseconds. @default performance.now() */
  constructor(now?: () => number) {
    this.#max = new TimeWindowMax(now);
  }

  /** Begins to watch; keeps no process alive. */
  start(): void {
    this.#lastLook = performance.now();
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Ends watching. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Source of the longest delay of the last minutes; left out before the start. */
  get sources(): Pick<MetricSources, 'eventLoopLagMax'> {
    return { eventLoopLagMax: optional(() => this.#read()) };
  }

  /**
   * The time since the look before is a delay only beyond the time between two looks. No time is missed: each stretch
   * begins where the one before it ended, which `monitorEventLoopDelay` of Node does not do after its `reset()`.
   */
  #look(): void {
    const now = performance.now();
    this.#recordSince(this.#lastLook ?? now, now);
    this.#lastLook = now;
  }

  /** A block that has just ended has had no look after it yet: a reading records it, and leaves the stretch as it is. */
  #read(): number | null {
    if (this.#lastLook === null) {
      return null;
    }
    this.#recordSince(this.#lastLook, performance.now());
    return this.#max.value;
  }

  #recordSince(begin: number, end: number): void {
    this.#max.record(Math.max(0, end - begin - LOOK_EVERY_MS) / 1_000);
  }
}
