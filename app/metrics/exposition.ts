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
    for (const key of keys.sort((a, b) => (baseName(METRICS[a]) < baseName(METRICS[b]) ? -1 : 1))) {
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
    const written = families.filter((family) => !isEmpty(family));
    const lines = this.#openMetrics ? written.map(typeFirst) : written;
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

/** What families are sorted by, as Spring Boot sorts them: the name without the suffix of counters and infos. */
const baseName = ({ name, type }: MetricDefinition): string =>
  type === 'counter' || type === 'info' ? name.replace(/_(total|info)$/, '') : name;

/** OpenMetrics tells the type before the help. */
const typeFirst = (family: string): string => family.replace(/^(# HELP .*)\n(# TYPE .*)/, '$2\n$1');

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
  /** What the source gave, with the common labels, in alphabetical order; of a bucket, with its bound. */
  readonly #labels = new WeakMap<Labels, Labels>();
  readonly #bucketLabels = new WeakMap<Labels, readonly Labels[]>();

  constructor(definition: MetricDefinition, source: MetricSource, tags: Labels, registry: Registered) {
    const { name, help, labels } = definition;
    super({ name, help, labelNames: [...labels], registers: [registry] });
    this.#definition = definition;
    this.#source = source;
    this.#tags = tags;
  }

  override async get() {
    const { name, help, type } = this.#definition;
    const values: Written[] = [];
    for (const sample of this.#source()) {
      if (Number.isFinite(sample.value)) {
        this.#write(sample, values);
      }
    }
    return { name, help, type, values } as unknown as Awaited<ReturnType<Gauge['get']>>;
  }

  #write({ labels, value, count = 0, buckets = [] }: Sample, values: Written[]): void {
    const { name, type } = this.#definition;
    const sharedLabels = this.#withTags(labels);
    if (type === 'gauge' || type === 'counter') {
      values.push({ metricName: name, labels: NO_LABELS, sharedLabels, value });
      return;
    }
    if (type === 'info') {
      values.push({ metricName: `${name}_info`, labels: NO_LABELS, sharedLabels, value });
      return;
    }
    if (type === 'histogram') {
      const metricName = `${name}_bucket`;
      for (const [index, bounded] of this.#withBounds(labels).entries()) {
        values.push({ metricName, labels: NO_LABELS, sharedLabels: bounded, value: buckets[index] ?? count });
      }
    }
    values.push(
      { metricName: `${name}_count`, labels: NO_LABELS, sharedLabels, value: count },
      { metricName: `${name}_sum`, labels: NO_LABELS, sharedLabels, value },
    );
  }

  #withTags(labels: Labels): Labels {
    const known = this.#labels.get(labels);
    if (known !== undefined) {
      return known;
    }
    const all = sorted({ ...this.#tags, ...labels });
    this.#labels.set(labels, all);
    return all;
  }

  /** The labels of each bucket; the last one has no bound. */
  #withBounds(labels: Labels): readonly Labels[] {
    const known = this.#bucketLabels.get(labels);
    if (known !== undefined) {
      return known;
    }
    const bounds = [...(this.#definition.buckets ?? []), '+Inf'];
    const all = bounds.map((bound) => sorted({ ...this.#tags, ...labels, le: String(bound) }));
    this.#bucketLabels.set(labels, all);
    return all;
  }
}

const sorted = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
