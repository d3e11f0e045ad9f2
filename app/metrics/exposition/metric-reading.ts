import { DOTTED_LABELS } from '../../../contract/metrics/definition.ts';
import { METRICS, type MetricDefinition, type MetricKey } from '../../../contract/metrics.ts';
import { type Labels, type MetricSource, type MetricSources, type Sample, sum } from './metric-source.ts';

/** One figure of a metric, named as Micrometer names its statistics. */
export interface Measurement {
  readonly statistic: 'COUNT' | 'TOTAL' | 'TOTAL_TIME' | 'MAX' | 'VALUE' | 'ACTIVE_TASKS' | 'DURATION';
  readonly value: number;
}

/** A metric as Spring Boot's metrics endpoint shows it; the keys are in its order. */
export interface MetricReading {
  readonly name: string;
  readonly description: string;
  readonly baseUnit?: string;
  readonly measurements: readonly Measurement[];
  readonly availableTags: readonly { readonly tag: string; readonly values: readonly string[] }[];
}

interface ReadFamily {
  readonly definition: MetricDefinition;
  readonly source: MetricSource;
  /** The gauge `<name>_max` of a summary. */
  readonly max: MetricSource | undefined;
}

/** Prometheus' names of the labels that Micrometer writes with dots. */
const LABEL_OF_TAG = new Map(Object.entries(DOTTED_LABELS).map(([label, tag]) => [tag, label]));

/** Reads single metrics, by their names in Prometheus or by Micrometer's dotted ones. */
export class MetricReader {
  readonly #families = new Map<string, ReadFamily>();
  readonly #tags: Labels;

  /** @param tags Labels of every series. */
  constructor(sources: MetricSources, tags: Labels) {
    this.#tags = tags;
    const keys = Object.keys(METRICS) as MetricKey[];
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

  /** Every name that {@link read} knows and that has series now, sorted. */
  get names(): readonly string[] {
    const present = new Set([...new Set(this.#families.values())].filter(({ source }) => source().length > 0));
    return [...this.#families].flatMap(([name, family]) => (present.has(family) ? [name] : [])).sort();
  }

  /**
   * The metric over the series that carry all of the tags; a statistic is their sum, MAX their largest.
   *
   * @param tags Label names, Prometheus' or Micrometer's, and the values they have to have.
   * @returns `undefined` when there is no such metric or none of its series carries the tags.
   */
  read(name: string, tags: readonly (readonly [string, string])[]): MetricReading | undefined {
    const family = this.#families.get(name);
    if (family === undefined) {
      return undefined;
    }
    const asked = tags.map(([tag, value]) => [LABEL_OF_TAG.get(tag) ?? tag, value] as const);
    const matches = ({ labels, value }: Sample) =>
      Number.isFinite(value) && asked.every(([label, wanted]) => labels[label] === wanted);
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
      availableTags: availableTags(series, new Set(asked.map(([label]) => label)), name === family.definition.dotted),
    };
  }

  #tagged(source: MetricSource): Sample[] {
    return source().map((sample) => ({ ...sample, labels: { ...this.#tags, ...sample.labels } }));
  }
}

function measurementsOf(
  { definition, max }: ReadFamily,
  series: readonly Sample[],
  peaks: readonly Sample[],
): Measurement[] {
  const total = sum(series.map(({ value }) => value));
  const count = sum(series.map(({ count: observations = 0 }) => observations));
  const largest = max === undefined ? [] : [{ statistic: 'MAX' as const, value: largestOf(peaks) }];
  switch (definition.type) {
    case 'gauge':
    case 'info':
      return [{ statistic: 'VALUE', value: total }];
    case 'counter':
      return [{ statistic: 'COUNT', value: total }];
    case 'summary':
    case 'histogram': {
      const [first, second] = STATISTICS_OF.get(definition.name) ?? byUnit(definition);
      return [{ statistic: first, value: count }, { statistic: second, value: total }, ...largest];
    }
  }
}

type StatisticPair = readonly [Measurement['statistic'], Measurement['statistic']];

/** Micrometer's timer for tasks that are still under way speaks of them. */
const STATISTICS_OF: ReadonlyMap<string, StatisticPair> = new Map([
  [METRICS.httpActive.name, ['ACTIVE_TASKS', 'DURATION']],
]);

const byUnit = ({ unit }: MetricDefinition): StatisticPair => ['COUNT', unit === 'seconds' ? 'TOTAL_TIME' : 'TOTAL'];

const largestOf = (samples: readonly Sample[]): number =>
  samples.reduce((largest, { value }) => Math.max(largest, value), 0);

/** @param isDotted whether Micrometer's names are wanted instead of Prometheus' */
function availableTags(series: readonly Sample[], filtered: ReadonlySet<string>, isDotted: boolean) {
  const values = new Map<string, Set<string>>();
  for (const { labels } of series) {
    for (const [label, value] of Object.entries(labels)) {
      values.set(label, (values.get(label) ?? new Set<string>()).add(value));
    }
  }
  return [...values]
    .filter(([label]) => !filtered.has(label))
    .map(([label, all]) => ({ tag: isDotted ? (DOTTED_LABELS[label] ?? label) : label, values: [...all] }));
}
