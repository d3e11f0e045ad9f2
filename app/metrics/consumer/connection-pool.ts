import { WRITING_POOL } from '../../../contract/metrics/definition.ts';
import type { PoolFigures } from '../../store/connection/database-pool.ts';
import { type MetricSource, type MetricSources, single } from '../exposition/metric-source.ts';
import { Timer } from '../exposition/time-windows.ts';

/** Durations that the pool's timers measure. */
export type PoolDuration = 'acquire' | 'usage' | 'creation';

type PoolMetricKey = Extract<keyof MetricSources, `${'pool' | 'hikari' | 'jdbc'}${string}`>;

const HIKARI = { pool: WRITING_POOL };
const JDBC = { name: WRITING_POOL };

/** The pool opens connections when there is work and keeps none without it. */
const MIN_IDLE = 0;

/** Times of the pool, and its figures by the names of three conventions. */
export class PoolMetrics {
  readonly #figures: () => PoolFigures;
  readonly #timers = { acquire: new Timer(), usage: new Timer(), creation: new Timer() };
  #timeouts = 0;

  constructor(figures: () => PoolFigures) {
    this.#figures = figures;
  }

  /** Takes a duration of a connection. */
  observe(what: PoolDuration, seconds: number): void {
    this.#timers[what].record(seconds);
  }

  /** Counts a connection that was not opened in time. */
  timedOut(): void {
    this.#timeouts += 1;
  }

  get sources(): Pick<MetricSources, PoolMetricKey> {
    const figure = (of: (figures: PoolFigures) => number, labels?: typeof HIKARI | typeof JDBC) =>
      single(() => of(this.#figures()), labels);
    return {
      poolActive: figure(({ active }) => active),
      poolIdle: figure(({ idle }) => idle),
      poolPending: figure(({ pending }) => pending),
      poolMax: figure(({ max }) => max),
      hikariConnections: figure(({ active, idle }) => active + idle, HIKARI),
      hikariActive: figure(({ active }) => active, HIKARI),
      hikariIdle: figure(({ idle }) => idle, HIKARI),
      hikariPending: figure(({ pending }) => pending, HIKARI),
      hikariMax: figure(({ max }) => max, HIKARI),
      hikariMin: single(() => MIN_IDLE, HIKARI),
      hikariTimeout: single(() => this.#timeouts, HIKARI),
      hikariAcquire: this.#timer('acquire'),
      hikariAcquireMax: single(() => this.#timers.acquire.max, HIKARI),
      hikariUsage: this.#timer('usage'),
      hikariUsageMax: single(() => this.#timers.usage.max, HIKARI),
      hikariCreation: this.#timer('creation'),
      hikariCreationMax: single(() => this.#timers.creation.max, HIKARI),
      jdbcActive: figure(({ active }) => active, JDBC),
      jdbcIdle: figure(({ idle }) => idle, JDBC),
      jdbcMax: figure(({ max }) => max, JDBC),
      jdbcMin: single(() => MIN_IDLE, JDBC),
    };
  }

  #timer(what: PoolDuration): MetricSource {
    const timer = this.#timers[what];
    return () => [{ labels: HIKARI, value: timer.seconds, count: timer.count }];
  }
}
