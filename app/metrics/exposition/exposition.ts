import { Counter, Gauge } from 'prom-client';
import { METRICS, type MetricDefinition, type MetricKey } from '../../../contract/metrics.ts';
import { EventLoopTurns } from '../../memory/event-loop-turns.ts';
import { type ExpositionFormat, familyWriter, type Series } from './family-text.ts';
import type { Labels, MetricSource, MetricSources } from './metric-source.ts';

/** A counter or a gauge of prom-client's: after a reset, the value that is added is its value. */
interface Collected {
  reset(): void;
  remove(): void;
  inc(labels: Labels, value: number): void;
  get(): Promise<{ readonly values: readonly Series[] }>;
}

interface Family {
  readonly read: () => Promise<readonly Series[]>;
  readonly write: (series: readonly Series[]) => string;
}

/** All families of the catalogue in one text format. */
export class Exposition {
  readonly #end: string;
  /** Each family by the name without `_total`, as `includedNames` asks for them. */
  readonly #families = new Map<string, Family>();

  readonly #now: (() => number) | undefined;

  /**
   * @param tags Labels of every series.
   * @param now clock of the turns, in milliseconds. @default performance.now()
   */
  constructor(format: ExpositionFormat, sources: MetricSources, tags: Labels, now?: () => number) {
    this.#now = now;
    this.#end = format === 'openmetrics' ? '# EOF\n' : '';
    const keys = Object.keys(METRICS) as MetricKey[];
    for (const key of keys.sort((a, b) => (baseName(METRICS[a]) < baseName(METRICS[b]) ? -1 : 1))) {
      const definition: MetricDefinition = METRICS[key];
      const read = seriesReader(definition, sources[key]);
      const write = familyWriter(definition, tags, format);
      this.#families.set(definition.name.replace(/_total$/, ''), { read, write });
    }
  }

  /**
   * The families as text; one that has no series is left out. All are read at one moment; while the text of a thousand
   * partitions is put together, other work of the event loop has its turns.
   *
   * @param includedNames Family names, without a counter's `_total`; unknown ones are passed over.
   * @default every family
   */
  async write(includedNames?: ReadonlySet<string>): Promise<string> {
    const families = [...this.#families].filter(([name]) => includedNames?.has(name) ?? true);
    const seriesOf = await Promise.all(families.map(([, { read }]) => read()));
    const turns = new EventLoopTurns(this.#now);
    let text = '';
    for (const [index, [, { write }]] of families.entries()) {
      await turns.afterTurn();
      text += write(seriesOf[index] ?? []);
    }
    return text + this.#end;
  }
}

/**
 * Reads the series with finite values. Gauges and counters are prom-client's, and take them over by `collect()`; those of
 * partitions are not: they are most of the series, and prom-client would take half of the scrape's processor time.
 */
function seriesReader(
  { name, help, type, labels: labelNames }: MetricDefinition,
  source: MetricSource,
): () => Promise<readonly Series[]> {
  const read = () => source().filter(({ value }) => Number.isFinite(value));
  if ((type !== 'gauge' && type !== 'counter') || labelNames.includes('partition')) {
    return async () => read();
  }
  const collect = () => {
    metric.reset();
    if (labelNames.length === 0) {
      // A reset makes it 0, which a family without series is not.
      metric.remove();
    }
    for (const { labels, value } of read()) {
      metric.inc(labels, value);
    }
  };
  const Type = type === 'counter' ? Counter : Gauge;
  const metric: Collected = new Type({ name, help, labelNames, registers: [], collect });
  return async () => (await metric.get()).values;
}

/** Families are sorted as by Spring Boot, by the name without the suffix of counters and infos. */
const baseName = ({ name, type }: MetricDefinition): string =>
  type === 'counter' || type === 'info' ? name.replace(/_(total|info)$/, '') : name;
