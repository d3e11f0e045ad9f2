import { type OpenMetricsContentType, Registry } from 'prom-client';
import { METRICS, type MetricDefinition, type MetricKey } from '../../contract/metrics.ts';
import { ExposedFamily, type FamilyRegistry } from './exposed-family.ts';
import type { Labels, MetricSource, MetricSources } from './metric-source.ts';

/** The two text formats of Prometheus. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** All families of the catalogue in one text format. */
export class Exposition {
  readonly #registry: FamilyRegistry;
  readonly #openMetrics: boolean;
  /** By the name without `_total`, as `includedNames` asks for them. */
  readonly #families = new Map<string, ExposedFamily>();

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
    const families = [...this.#families].filter(([name]) => includedNames?.has(name) ?? true);
    const texts = families.map(([, family]) => family.write());
    const isWritten = texts.every((text) => typeof text === 'string');
    return (isWritten ? texts : await Promise.all(texts)).join('') + (this.#openMetrics ? '# EOF\n' : '');
  }

  #register(definition: MetricDefinition, source: MetricSource, tags: Labels): void {
    const name = this.#openMetrics ? openMetricsName(definition) : definition.name;
    const type = definition.type === 'info' && !this.#openMetrics ? 'gauge' : definition.type;
    const family = new ExposedFamily({ ...definition, name, type }, source, tags, this.#registry);
    this.#families.set(definition.name.replace(/_total$/, ''), family);
  }
}

/** What families are sorted by, as Spring Boot sorts them: the name without the suffix of counters and infos. */
const baseName = ({ name, type }: MetricDefinition): string =>
  type === 'counter' || type === 'info' ? name.replace(/_(total|info)$/, '') : name;

/** OpenMetrics names a family without its samples' suffix; of a counter, prom-client adds it to the samples itself. */
function openMetricsName({ name, type }: MetricDefinition): string {
  return type === 'info' ? name.replace(/_info$/, '') : name.replace(/_total$/, '');
}

function openMetricsRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}
