import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { type MetricSources, optional } from './metric-source.ts';
import { TimeWindowMax } from './time-windows.ts';

/** What matters lasts for a second or more, and ten wake-ups a second cost nothing. */
const RESOLUTION_MS = 100;

/** The histogram keeps its highest value until it is reset; a scrape may never come. */
const READ_EVERY_MS = 10_000;

const NANOSECONDS = 1e9;

/** Watches how late the event loop is: while JavaScript runs in one go, no probe, heartbeat or record has its turn. */
export class EventLoopLag {
  readonly #max: TimeWindowMax;
  #histogram: IntervalHistogram | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param now Clock of the decaying maximum, in milliseconds. @default performance.now() */
  constructor(now?: () => number) {
    this.#max = new TimeWindowMax(now);
  }

  /** Begins to watch; keeps no process alive. */
  start(): void {
    this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#read(), READ_EVERY_MS).unref();
  }

  /** Ends watching. */
  stop(): void {
    clearInterval(this.#timer);
    this.#histogram?.disable();
  }

  /** Source of the longest delay of the last minutes; left out before the start. */
  get sources(): Pick<MetricSources, 'eventLoopLagMax'> {
    return { eventLoopLagMax: optional(() => this.#read()) };
  }

  /** The histogram has the time from one look to the next, which is the delay only beyond the resolution. */
  #read(): number | null {
    if (this.#histogram === null) {
      return null;
    }
    this.#max.record(Math.max(0, this.#histogram.max / NANOSECONDS - RESOLUTION_MS / 1_000));
    this.#histogram.reset();
    return this.#max.value;
  }
}
