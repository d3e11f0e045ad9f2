import type { MetricDefinition } from '../../../contract/metrics.ts';
import type { Labels, Sample } from './metric-source.ts';

/** The two text formats of Prometheus. */
export type ExpositionFormat = 'text' | 'openmetrics';

/** A series as a source or one of prom-client's metrics gives it. */
export interface Series extends Pick<Sample, 'value' | 'count' | 'buckets'> {
  readonly labels: LabelValues;
}

type LabelValues = Readonly<Partial<Record<string, string | number>>>;

/**
 * How a family is written. prom-client's registry is not asked for the text, for two reasons:
 *
 * - It would take a scrape of 200 partitions beyond its 8 ms of processor time
 *   (docs/decisions/0021-scrapes-cost-processor-time.md).
 * - It cannot write all of them. prom-client's summaries and histograms take observations one by one, and no count and
 *   sum that are kept elsewhere; it knows no `info`; in OpenMetrics it has HELP before TYPE, unlike Spring Boot.
 *
 * @param tags Labels of every series; a label of the family's own with the same name goes before.
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
