import { LOG_LEVELS, type LogLevel } from '../../../contract/metrics/definition.ts';
import { LabelledCounts, type MetricSources, single } from '../exposition/metric-source.ts';

/** Pino's levels as numbers; a number between two of them counts as the lower one. */
const LEVELS: readonly (readonly [number, LogLevel])[] = [
  [50, 'error'],
  [40, 'warn'],
  [30, 'info'],
  [20, 'debug'],
  [0, 'trace'],
];

/** Counts the lines of the log by Logback's levels, and those that did not get out. */
export class LogEvents {
  readonly #counts = new LabelledCounts('level', LOG_LEVELS);
  #dropped = 0;

  /** @param level pino's number of the line's level */
  count(level: number): void {
    const [, name = 'trace'] = LEVELS.find(([least]) => level >= least) ?? [];
    this.#counts.add(name);
  }

  /** A line was lost. */
  dropped(): void {
    this.#dropped += 1;
  }

  get sources(): Pick<MetricSources, 'logEvents' | 'logLinesDropped'> {
    return { logEvents: this.#counts.source, logLinesDropped: single(() => this.#dropped) };
  }
}
