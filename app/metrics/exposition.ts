import { Gauge, type OpenMetricsContentType, type PrometheusContentType, Registry } from 'prom-client';
import { METRICS, type MetricDefinition, type MetricKey } from '../../contract/metrics.ts';
import type { Labels, MetricSource, MetricSources, Sample } from './metric-source.ts';

/** The two text formats of Prometheus. */
export type ExpositionFormat = 'text' | 'openmetrics';

type Registered = Registry<PrometheusContentType> | Registry<OpenMetricsContentType>;

/** All families of the catalogue in one text format. */
export class Exposition {
  readonly #registry: Registered;
  readonly #openMetrics: boolean;
  /** Family name without `_total`, as `includedNames` asks for it, to its name in the registry. */
  readonly #names = new Map<string, string>();

  /** @param tags Labels of every series. */
  constructor(format: ExpositionFormat, sources: MetricSources, tags: Labels) {
    this.#openMetrics = format === 'openmetrics';
    this.#registry = this.#openMetrics ? openMetricsRegistry() : new Registry();
    const keys = Object.keys(METRICS) as MetricKey[];
    for (const key of keys.sort((a, b) => (METRICS[a].name < METRICS[b].name ? -1 : 1))) {
      this.#register(METRICS[key], sources[key], tags);
    }
  }

  /**
   * The families as text; one that has no series is left out.
   *
   * @param includedNames Family names, without a counter's `_total`; unknown ones are passed over. @default every family
   */
  async write(includedNames?: ReadonlySet<string>): Promise<string> {
    const names = [...this.#names].filter(([family]) => includedNames?.has(family) ?? true);
    const families = await Promise.all(names.map(([, name]) => this.#registry.getSingleMetricAsString(name)));
    const lines = families.filter((family) => !isEmpty(family));
    return [...lines, ...(this.#openMetrics ? ['# EOF'] : [])].map((line) => `${line}\n`).join('');
  }

  #register(definition: MetricDefinition, source: MetricSource, tags: Labels): void {
    const family = definition.name.replace(/_total$/, '');
    const name = this.#openMetrics ? openMetricsName(definition) : definition.name;
    this.#names.set(family, name);
    const type = definition.type === 'info' && !this.#openMetrics ? 'gauge' : definition.type;
    new ExposedFamily({ ...definition, name, type }, source, tags, this.#registry);
  }
}

const isEmpty = (family: string): boolean => family.slice(family.lastIndexOf('\n') + 1).startsWith('#');

/** OpenMetrics names a family without its samples' suffix; of a counter, prom-client adds it to the samples itself. */
function openMetricsName({ name, type }: MetricDefinition): string {
  return type === 'info' ? name.replace(/_info$/, '') : name.replace(/_total$/, '');
}

function openMetricsRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}

/** A value as prom-client writes it: of `sharedLabels` it keeps the text, for as long as the object is the same. */
interface Written {
  readonly metricName: string;
  readonly labels: Labels;
  readonly sharedLabels: Labels;
  readonly value: number;
}

const NO_LABELS: Labels = {};

/**
 * A family whose values come from elsewhere. prom-client's own types keep their values in a map by label values, which
 * they hash anew at each scrape, and cannot exist without an observation; its registry writes whatever a metric gives it.
 */
class ExposedFamily extends Gauge {
  readonly #definition: MetricDefinition;
  readonly #source: MetricSource;
  readonly #tags: Labels;
  /** Labels with the common ones in alphabetical order, by what the source gave and, for a bucket, by its bound. */
  readonly #written = new WeakMap<Labels, Map<string, Labels>>();

  constructor(definition: MetricDefinition, source: MetricSource, tags: Labels, registry: Registered) {
    const { name, help, labels } = definition;
    super({ name, help, labelNames: [...labels], registers: [registry] });
    this.#definition = definition;
    this.#source = source;
    this.#tags = tags;
  }

  override async get() {
    const { name, help, type } = this.#definition;
    const values = this.#source().flatMap((sample) => (Number.isFinite(sample.value) ? this.#write(sample) : []));
    return { name, help, type, values } as unknown as Awaited<ReturnType<Gauge['get']>>;
  }

  #write(sample: Sample): Written[] {
    const { name, type } = this.#definition;
    const { labels, value, count = 0 } = sample;
    const written = (metricName: string, figure: number, le = '') => {
      return { metricName, labels: NO_LABELS, sharedLabels: this.#labels(labels, le), value: figure };
    };
    switch (type) {
      case 'gauge':
      case 'counter':
        return [written(name, value)];
      case 'info':
        return [written(`${name}_info`, value)];
      case 'summary':
        return [written(`${name}_count`, count), written(`${name}_sum`, value)];
      case 'histogram':
        return [
          ...this.#buckets(sample).map(([le, figure]) => written(`${name}_bucket`, figure, le)),
          written(`${name}_count`, count),
          written(`${name}_sum`, value),
        ];
    }
  }

  #buckets({ count = 0, buckets = [] }: Sample): [string, number][] {
    const bounds = this.#definition.buckets ?? [];
    return [...bounds.map((bound, index): [string, number] => [String(bound), buckets[index] ?? 0]), ['+Inf', count]];
  }

  #labels(labels: Labels, le: string): Labels {
    const known = this.#written.get(labels) ?? new Map<string, Labels>();
    this.#written.set(labels, known);
    let all = known.get(le);
    if (all === undefined) {
      const unsorted = { ...this.#tags, ...labels, ...(le === '' ? {} : { le }) };
      all = Object.fromEntries(Object.entries(unsorted).sort(([a], [b]) => (a < b ? -1 : 1)));
      known.set(le, all);
    }
    return all;
  }
}
