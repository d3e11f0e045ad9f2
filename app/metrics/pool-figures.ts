import { type MetricSources, single } from './metric-source.ts';

/** Connections of the writing pool at one moment. */
export interface PoolFigures {
  readonly active: number;
  readonly idle: number;
  /** Writers that wait for a connection. */
  readonly pending: number;
  readonly max: number;
}

/** Sources of the pool's families. */
export function poolSources(
  pool: () => PoolFigures,
): Pick<MetricSources, 'poolActive' | 'poolIdle' | 'poolPending' | 'poolMax'> {
  return {
    poolActive: single(() => pool().active),
    poolIdle: single(() => pool().idle),
    poolPending: single(() => pool().pending),
    poolMax: single(() => pool().max),
  };
}
