import {
  Counter,
  Gauge,
  type OpenMetricsContentType,
  type PrometheusContentType,
  Registry,
  Summary,
} from 'prom-client';
import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import type { MetricSource, MetricSources } from './metric-source.ts';

/** The two text formats of Prometheus. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** All families of the catalogue in one text format. */
export class Exposition {
  readonly #registry: Registry<PrometheusContentType> | Registry<OpenMetricsContentType>;
  readonly #openMetrics: boolean;
  /** Family name without `_total`, as `includedNames` asks for it, to its name in the registry. */
  readonly #names = new Map<string, string>();

  /** @param tags Labels of every series. */
  constructor(format: ExpositionFormat, sources: MetricSources, tags: Readonly<Record<string, string>>) {
    this.#openMetrics = format === 'openmetrics';
    this.#registry = this.#openMetrics ? openMetricsRegistry() : new Registry();
    this.#registry.setDefaultLabels({ ...tags });
    const keys = Object.keys(METRICS) as (keyof typeof METRICS)[];
    for (const key of keys.sort((a, b) => (METRICS[a].name < METRICS[b].name ? -1 : 1))) {
      this.#register(METRICS[key], sources[key]);
    }
  }

  /**
   * The families as text.
   *
   * @param includedNames Family names, without a counter's `_total`; unknown ones are passed over. @default every family
   */
  async write(includedNames?: ReadonlySet<string>): Promise<string> {
    const names = [...this.#names].filter(([family]) => includedNames?.has(family) ?? true);
    const families = await Promise.all(names.map(([, name]) => this.#registry.getSingleMetricAsString(name)));
    const lines = this.#openMetrics ? [...families, '# EOF'] : families;
    return lines.map((line) => `${line}\n`).join('');
  }

  #register(definition: MetricDefinition, source: MetricSource): void {
    const family = definition.name.replace(/_total$/, '');
    const config = {
      // OpenMetrics names a counter's family without the suffix, and prom-client adds it to the samples itself.
      name: this.#openMetrics ? family : definition.name,
      help: definition.help,
      labelNames: [...definition.labels],
      registers: [this.#registry],
    };
    this.#names.set(family, config.name);
    switch (definition.type) {
      case 'gauge':
        new Gauge({
          ...config,
          collect() {
            this.reset();
            for (const { labels, value } of source()) this.set(labels, value);
          },
        });
        break;
      case 'counter':
        new Counter({
          ...config,
          collect() {
            this.reset();
            for (const { labels, value } of source()) this.inc(labels, value);
          },
        });
        break;
      case 'summary':
        new TotalsSummary({ ...config, percentiles: [] }, source);
    }
  }
}

function openMetricsRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}

/** A summary whose sum and count come from elsewhere: prom-client's own cannot exist before its first observation. */
class TotalsSummary extends Summary {
  readonly #source: MetricSource;
  readonly #name: string;

  constructor(config: ConstructorParameters<typeof Summary>[0], source: MetricSource) {
    super(config);
    this.#source = source;
    this.#name = config.name;
  }

  override async get() {
    const values = this.#source().flatMap(({ labels, value, count = 0 }) => [
      { metricName: `${this.#name}_count`, labels, value: count },
      { metricName: `${this.#name}_sum`, labels, value },
    ]);
    return { ...(await super.get()), values };
  }
}
