import type { MetricDefinition } from '../../contract/metrics.ts';
import type { Labels, Sample } from './metric-source.ts';

/**
 * Writes a family of a type that none of prom-client's metrics can stand for:
 *
 * - `summary` and `histogram`: prom-client's take observations one by one, and no count and sum that are kept elsewhere. They
 *   write `le` before the other labels and the sum before the count; Spring Boot sorts the labels and has the count first.
 * - `info`: prom-client does not know this type of OpenMetrics, whose samples have a suffix that the family has not.
 *
 * @param tags Labels of every series.
 * @returns the lines of the family, HELP first as prom-client has it; an empty text when there are no series
 */
export function familyText(
  { name, type, help, buckets: bounds = [] }: MetricDefinition,
  samples: readonly Sample[],
  tags: Labels,
): string {
  const line = (suffix: string, labels: Labels, value: number) =>
    `${name}_${suffix}{${labelText({ ...tags, ...labels })}} ${value}\n`;
  const bucketLines = ({ labels, count = 0, buckets = [] }: Sample) =>
    [...bounds, '+Inf'].map((le, index) => line('bucket', { ...labels, le: String(le) }, buckets[index] ?? count));
  const lines = samples.flatMap((sample) => {
    const { labels, value, count = 0 } = sample;
    if (type === 'info') {
      return line('info', labels, value);
    }
    const upToBounds = type === 'histogram' ? bucketLines(sample) : [];
    return [...upToBounds, line('count', labels, count), line('sum', labels, value)];
  });
  return lines.length === 0 ? '' : `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}="${escaped(value).replaceAll('"', '\\"')}"`)
    .join(',');

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
