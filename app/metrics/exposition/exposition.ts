import { Gauge } from 'prom-client';
import { METRICS, type MetricDefinition, type MetricKey } from '../../../contract/metrics.ts';
import { EventLoopTurns } from '../../memory/event-loop-turns.ts';
import type { Labels, MetricSource, MetricSources, Sample } from './metric-source.ts';

/** The two text formats of Prometheus. */
export type ExpositionFormat = 'text' | 'openmetrics';

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
   * Writes the families; one without series is left out. All are read at one moment. The text of a thousand partitions
   * takes longer, and between two families other work of the event loop has its turns.
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
 * Reads the series with finite values. Gauges and counters pass through prom-client. Those of partitions do not: they
 * are most of the series, and prom-client would keep them only until they are written.
 */
function seriesReader(
  { name, help, type, labels: labelNames }: MetricDefinition,
  source: MetricSource,
): () => Promise<readonly Series[]> {
  const read = () => source().filter(({ value }) => Number.isFinite(value));
  if ((type !== 'gauge' && type !== 'counter') || labelNames.includes('partition')) {
    return async () => read();
  }
  const gauge = new Gauge({ name, help, labelNames, registers: [] });
  return async () => {
    gauge.reset();
    const series = read();
    for (const { labels, value } of series) {
      gauge.set(labels, value);
    }
    // A gauge without labels is 0 after the reset, also when its family has no series.
    return series.length === 0 ? [] : (await gauge.get()).values;
  };
}

/** Families are sorted as by Spring Boot, by the name without the suffix of counters and infos. */
const baseName = ({ name, type }: MetricDefinition): string =>
  type === 'counter' || type === 'info' ? name.replace(/_(total|info)$/, '') : name;

/** A series as a source or one of prom-client's metrics gives it. */
export interface Series extends Pick<Sample, 'value' | 'count' | 'buckets'> {
  readonly labels: LabelValues;
}

type LabelValues = Readonly<Partial<Record<string, string | number>>>;

/**
 * Returns a function that writes a family. prom-client's registry does not write it, for two reasons:
 *
 * - A scrape of 200 partitions may take 8 ms of processor time. With the registry it takes more
 *   (docs/decisions/0021-scrapes-cost-processor-time.md).
 * - The registry knows no info, and in OpenMetrics it has HELP before TYPE, unlike Spring Boot. prom-client's summaries
 *   and histograms take one observation after another, and no count and sum that are kept elsewhere.
 *
 * @param tags Labels of every series; a label of the family with the same name goes before.
 * @returns the lines of the family for its series; an empty text when there are none
 */
export function familyWriter(
  definition: MetricDefinition,
  tags: Labels,
  format: ExpositionFormat,
): (series: readonly Series[]) => string {
  const { name, type, labels: ownLabels, buckets: bounds = [] } = definition;
  const header = headerText(definition, format);
  const labelText = labelWriter(ownLabels, tags);
  const bucketLabelText = labelWriter([...ownLabels, 'le'], tags);
  const bucketLine = ({ labels, count, buckets = [] }: Series, le: string | number, index: number) =>
    `${name}_bucket${bucketLabelText({ ...labels, le })} ${buckets[index] ?? count}\n`;
  const lines = (series: Series): string => {
    const { labels, value, count = 0 } = series;
    if (type !== 'summary' && type !== 'histogram') {
      return `${name}${labelText(labels)} ${value}\n`;
    }
    const upToBounds = type === 'histogram' ? [...bounds, '+Inf'].map((le, i) => bucketLine(series, le, i)) : [];
    const all = labelText(labels);
    return `${upToBounds.join('')}${name}_count${all} ${count}\n${name}_sum${all} ${value}\n`;
  };
  return (series) => (series.length === 0 ? '' : header + series.map(lines).join(''));
}

/** OpenMetrics names a family without the suffix of its samples, and knows infos. Spring Boot has TYPE first there. */
function headerText({ name, type, help }: MetricDefinition, format: ExpositionFormat): string {
  const description = escaped(help);
  if (format === 'text') {
    return `# HELP ${name} ${description}\n# TYPE ${name} ${type === 'info' ? 'gauge' : type}\n`;
  }
  const family = name.replace(type === 'info' ? /_info$/ : /_total$/, '');
  return `# TYPE ${family} ${type}\n# HELP ${family} ${description}\n`;
}

/**
 * Writes the label pairs of a series, sorted by name as by Spring Boot; the tags are escaped only once. A label of the
 * family without a value in the series is left out.
 */
function labelWriter(own: readonly string[], tags: Labels): (labels: LabelValues) => string {
  const pairs = [...new Set([...own, ...Object.keys(tags)])].sort().map((name) => {
    const before = `,${name}="`;
    const tag = tags[name] === undefined ? '' : `${before}${escapedValue(tags[name])}"`;
    return { name: own.includes(name) ? name : '', before, tag };
  });
  return (labels) => {
    let written = '';
    for (const { name, before, tag } of pairs) {
      const value = labels[name];
      written += value === undefined ? tag : `${before}${escapedValue(value)}"`;
    }
    return written === '' ? '' : `{${written.slice(1)}}`;
  };
}

/** Most values have nothing to escape, and a test of that costs less than three replacements. */
function escapedValue(value: string | number): string {
  const text = String(value);
  return /[\\\n"]/.test(text) ? escaped(text).replaceAll('"', '\\"') : text;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
