import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import type { MetricSource, MetricSources, Sample } from './metric-source.ts';

/** One figure of a metric, named as Micrometer names its statistics. */
export interface Measurement {
  readonly statistic: 'COUNT' | 'TOTAL_TIME' | 'MAX' | 'VALUE';
  readonly value: number;
}

/** A metric as Spring Boot's metrics endpoint shows it; the keys stand in its order. */
export interface MetricReading {
  readonly name: string;
  readonly description: string;
  readonly baseUnit?: string;
  readonly measurements: readonly Measurement[];
  readonly availableTags: readonly { readonly tag: string; readonly values: readonly string[] }[];
}

interface Family {
  readonly definition: MetricDefinition;
  readonly source: MetricSource;
  /** The gauge `<name>_max` of a summary. */
  readonly max: MetricSource | undefined;
}

/** Reads single metrics, by their names in Prometheus or by Micrometer's dotted ones. */
export class MetricReader {
  readonly #families = new Map<string, Family>();
  readonly #tags: Readonly<Record<string, string>>;

  /** @param tags Labels of every series. */
  constructor(sources: MetricSources, tags: Readonly<Record<string, string>>) {
    this.#tags = tags;
    const keys = Object.keys(METRICS) as (keyof typeof METRICS)[];
    for (const key of keys) {
      const definition: MetricDefinition = METRICS[key];
      const maxKey = keys.find((candidate) => METRICS[candidate].name === `${definition.name}_max`);
      const family = { definition, source: sources[key], max: maxKey === undefined ? undefined : sources[maxKey] };
      this.#families.set(definition.name, family);
      if (definition.dotted !== undefined) {
        this.#families.set(definition.dotted, family);
      }
    }
  }

  /** Every name that {@link read} knows, sorted. */
  get names(): readonly string[] {
    return [...this.#families.keys()].sort();
  }

  /**
   * The metric over the series that carry all of the tags; a statistic is their sum, MAX their largest.
   *
   * @param tags Label names and the values they have to have.
   * @returns `undefined` when there is no such metric or none of its series carries the tags.
   */
  read(name: string, tags: readonly (readonly [string, string])[]): MetricReading | undefined {
    const family = this.#families.get(name);
    if (family === undefined) {
      return undefined;
    }
    const matches = ({ labels }: Sample) => tags.every(([tag, value]) => labels[tag] === value);
    const series = this.#tagged(family.source).filter(matches);
    if (series.length === 0) {
      return undefined;
    }
    const { help, unit } = family.definition;
    return {
      name,
      description: help,
      ...(unit === undefined ? {} : { baseUnit: unit }),
      measurements: measurementsOf(family, series, this.#tagged(family.max ?? (() => [])).filter(matches)),
      availableTags: availableTags(series, new Set(tags.map(([tag]) => tag))),
    };
  }

  #tagged(source: MetricSource): Sample[] {
    return source().map((sample) => ({ ...sample, labels: { ...this.#tags, ...sample.labels } }));
  }
}

function measurementsOf(
  { definition, max }: Family,
  series: readonly Sample[],
  peaks: readonly Sample[],
): Measurement[] {
  const total = sum(series.map(({ value }) => value));
  switch (definition.type) {
    case 'gauge':
      return [{ statistic: 'VALUE', value: total }];
    case 'counter':
      return [{ statistic: 'COUNT', value: total }];
    case 'summary':
      return [
        { statistic: 'COUNT', value: sum(series.map(({ count = 0 }) => count)) },
        { statistic: 'TOTAL_TIME', value: total },
        ...(max === undefined
          ? []
          : [{ statistic: 'MAX' as const, value: Math.max(0, ...peaks.map(({ value }) => value)) }]),
      ];
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function availableTags(series: readonly Sample[], filtered: ReadonlySet<string>): { tag: string; values: string[] }[] {
  const values = new Map<string, Set<string>>();
  for (const [tag, value] of series.flatMap(({ labels }) => Object.entries(labels))) {
    values.set(tag, (values.get(tag) ?? new Set<string>()).add(value));
  }
  return [...values].filter(([tag]) => !filtered.has(tag)).map(([tag, all]) => ({ tag, values: [...all] }));
}
