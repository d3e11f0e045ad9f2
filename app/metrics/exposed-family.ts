import { Gauge, type OpenMetricsContentType, type PrometheusContentType, Registry } from 'prom-client';
import type { MetricDefinition } from '../../contract/metrics.ts';
import type { Labels, MetricSource, Sample } from './metric-source.ts';

/** prom-client's registry for either text format. */
export type FamilyRegistry = Registry<PrometheusContentType> | Registry<OpenMetricsContentType>;

/** One line of a family, but for its value. */
class Line {
  readonly metricName: string;
  readonly labels: Labels;
  /** What comes before the value, once prom-client has written it. */
  text: string | null = null;

  constructor(metricName: string, labels: Labels) {
    this.metricName = metricName;
    this.labels = labels;
  }
}

interface ValueOfLine {
  readonly line: Line;
  readonly value: number;
}

const NO_LABELS: Labels = {};

/**
 * A family whose values come from elsewhere. prom-client's own types keep their values in a map by label values, which
 * they hash anew at each scrape, and cannot exist without an observation; its registry writes whatever a metric gives it.
 *
 * Of a series that was there at a scrape before, only the value changes: so prom-client writes a family when it has a series for
 * the first time, and from then on what it wrote is put before the value.
 */
export class ExposedFamily extends Gauge {
  readonly #definition: MetricDefinition;
  readonly #source: MetricSource;
  readonly #tags: Labels;
  readonly #registry: FamilyRegistry;
  readonly #lines = new WeakMap<Labels, readonly Line[]>();
  #header = '';
  /** What prom-client was given last: it asks at once, so these are the values of a call of its registry. */
  #given: readonly ValueOfLine[] = [];

  /** @param tags Labels of every series. */
  constructor(definition: MetricDefinition, source: MetricSource, tags: Labels, registry: FamilyRegistry) {
    const { name, help, labels } = definition;
    super({ name, help, labelNames: [...labels], registers: [registry] });
    this.#definition = definition;
    this.#source = source;
    this.#tags = tags;
    this.#registry = registry;
  }

  /** What prom-client's registry writes. */
  override async get() {
    const { name, help, type } = this.#definition;
    this.#given = this.#read();
    const values = this.#given.map(({ line, value }) => {
      return { metricName: line.metricName, labels: NO_LABELS, sharedLabels: line.labels, value };
    });
    return { name, help, type, values } as unknown as Awaited<ReturnType<Gauge['get']>>;
  }

  /** The family as text, at once unless prom-client has to write it; an empty one when it has no series. */
  write(): string | Promise<string> {
    const values = this.#read();
    const isKnown = values.every(({ line }) => line.text !== null);
    return isKnown ? this.#join(values) : this.#learn();
  }

  async #learn(): Promise<string> {
    const writing = this.#registry.getSingleMetricAsString(this.#definition.name);
    const given = this.#given;
    this.#given = [];
    const [help = '', type = '', ...lines] = (await writing).split('\n').map((line) => `${line}\n`);
    this.#header = this.#registry.contentType === Registry.OPENMETRICS_CONTENT_TYPE ? type + help : help + type;
    for (const [index, { line }] of given.entries()) {
      const written = lines[index] ?? '';
      line.text = written.slice(0, written.lastIndexOf(' ') + 1);
    }
    return this.#join(given);
  }

  #join(values: readonly ValueOfLine[]): string {
    let text = values.length === 0 ? '' : this.#header;
    for (const { line, value } of values) {
      text += `${line.text}${value}\n`;
    }
    return text;
  }

  #read(): readonly ValueOfLine[] {
    const values: ValueOfLine[] = [];
    for (const sample of this.#source()) {
      if (Number.isFinite(sample.value)) {
        this.#add(sample, values);
      }
    }
    return values;
  }

  /** The last line of a summary or histogram is the sum; what is no bucket has the count. */
  #add({ labels, value, count = 0, buckets = [] }: Sample, values: ValueOfLine[]): void {
    const lines = this.#linesOf(labels);
    const [line] = lines;
    if (line !== undefined && lines.length === 1) {
      values.push({ line, value });
      return;
    }
    const sumAt = lines.length - 1;
    for (const [index, each] of lines.entries()) {
      values.push({ line: each, value: index === sumAt ? value : (buckets[index] ?? count) });
    }
  }

  #linesOf(labels: Labels): readonly Line[] {
    const known = this.#lines.get(labels);
    if (known !== undefined) {
      return known;
    }
    const lines = this.#makeLines(labels);
    this.#lines.set(labels, lines);
    return lines;
  }

  /** Of a histogram first the buckets, of which the last one has no bound; then count and sum, as of a summary. */
  #makeLines(labels: Labels): readonly Line[] {
    const { name, type, buckets = [] } = this.#definition;
    const all = sorted({ ...this.#tags, ...labels });
    switch (type) {
      case 'gauge':
      case 'counter':
        return [new Line(name, all)];
      case 'info':
        return [new Line(`${name}_info`, all)];
      case 'summary':
      case 'histogram': {
        const bounds = type === 'histogram' ? [...buckets, '+Inf'] : [];
        const bounded = bounds.map((bound) => new Line(`${name}_bucket`, sorted({ ...all, le: String(bound) })));
        return [...bounded, new Line(`${name}_count`, all), new Line(`${name}_sum`, all)];
      }
    }
  }
}

const sorted = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
