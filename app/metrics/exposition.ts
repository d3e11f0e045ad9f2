import { Counter, Gauge, type OpenMetricsContentType, type PrometheusContentType, Registry } from 'prom-client';
import { METRICS, type MetricDefinition, type MetricKey } from '../../contract/metrics.ts';
import { familyText } from './family-text.ts';
import type { Labels, MetricSource, MetricSources } from './metric-source.ts';

/** The two text formats of Prometheus. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** prom-client's registry for either text format. */
type FormatRegistry = Registry<PrometheusContentType> | Registry<OpenMetricsContentType>;

/** A counter or a gauge of prom-client's: after a reset, the value that is added is its value. */
interface Addable {
  reset(): void;
  inc(labels: Labels, value: number): void;
}

/** Writes a family; an empty text when it has no series. */
type FamilyWriter = () => Promise<string>;

/** All families of the catalogue in one text format. */
export class Exposition {
  readonly #registry: FormatRegistry;
  readonly #openMetrics: boolean;
  /** By the name without `_total`, as `includedNames` asks for them. */
  readonly #families = new Map<string, FamilyWriter>();

  /** @param tags Labels of every series. */
  constructor(format: ExpositionFormat, sources: MetricSources, tags: Labels) {
    this.#openMetrics = format === 'openmetrics';
    this.#registry = this.#openMetrics ? openMetricsRegistry() : new Registry();
    const keys = Object.keys(METRICS) as MetricKey[];
    for (const key of keys.sort((a, b) => (baseName(METRICS[a]) < baseName(METRICS[b]) ? -1 : 1))) {
      const definition: MetricDefinition = METRICS[key];
      this.#families.set(definition.name.replace(/_total$/, ''), this.#writerOf(definition, sources[key], tags));
    }
  }

  /**
   * The families as text; one that has no series is left out.
   *
   * @param includedNames Family names, without a counter's `_total`; unknown ones are passed over. @default every family
   */
  async write(includedNames?: ReadonlySet<string>): Promise<string> {
    const families = [...this.#families].filter(([name]) => includedNames?.has(name) ?? true);
    const texts = await Promise.all(families.map(([, write]) => write()));
    return (this.#openMetrics ? [...texts.map(typeFirst), '# EOF\n'] : texts).join('');
  }

  #writerOf(definition: MetricDefinition, source: MetricSource, tags: Labels): FamilyWriter {
    const read = () => source().filter(({ value }) => Number.isFinite(value));
    const name = this.#openMetrics ? openMetricsName(definition) : definition.name;
    const type = definition.type === 'info' && !this.#openMetrics ? 'gauge' : definition.type;
    const family = { ...definition, name, type };
    return type === 'gauge' || type === 'counter'
      ? registeredFamily(family, read, tags, this.#registry)
      : async () => familyText(family, read(), tags);
  }
}

/** A gauge or counter of prom-client's, which takes over the series of the source each time it is written. */
function registeredFamily(
  { name, help, type, labels: ownLabels }: MetricDefinition,
  read: MetricSource,
  tags: Labels,
  registry: FormatRegistry,
): FamilyWriter {
  const labelNames = [...new Set([...ownLabels, ...Object.keys(tags)])].sort();
  const sortedTags = Object.fromEntries(labelNames.map((label) => [label, tags[label] ?? '']));
  let isEmpty = true;
  const collect = () => {
    const samples = read();
    isEmpty = samples.length === 0;
    metric.reset();
    for (const { labels, value } of samples) {
      metric.inc({ ...sortedTags, ...labels }, value);
    }
  };
  const Type = type === 'counter' ? Counter : Gauge;
  const metric: Addable = new Type({ name, help, labelNames, registers: [registry], collect });
  return async () => {
    const writing = registry.getSingleMetricAsString(name);
    // It has collected already, and a scrape at the same time may collect anew before it has written.
    const isLeftOut = isEmpty;
    const text = await writing;
    return isLeftOut ? '' : `${text}\n`;
  };
}

/** What families are sorted by, as Spring Boot sorts them: the name without the suffix of counters and infos. */
const baseName = ({ name, type }: MetricDefinition): string =>
  type === 'counter' || type === 'info' ? name.replace(/_(total|info)$/, '') : name;

/** OpenMetrics names a family without its samples' suffix; of a counter, prom-client adds it to the samples itself. */
function openMetricsName({ name, type }: MetricDefinition): string {
  return type === 'info' ? name.replace(/_info$/, '') : name.replace(/_total$/, '');
}

/** Spring Boot has TYPE before HELP in OpenMetrics; prom-client has it after HELP in both formats. */
const typeFirst = (text: string): string => text.replace(/^(# HELP .*\n)(# TYPE .*\n)/, '$2$1');

function openMetricsRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}
