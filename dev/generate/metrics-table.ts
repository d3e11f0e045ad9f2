import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import { markdownTable } from './markdown-table.ts';

const code = (text: string): string => `\`${text}\``;

const row = ({ name, type, labels, dotted, unit, help, linuxOnly = false }: MetricDefinition): readonly string[] => [
  code(name),
  type,
  labels.map(code).join(', '),
  dotted === undefined ? '' : code(dotted),
  unit ?? '',
  linuxOnly ? `${help} (Linux)` : help,
];

/** Every metric that the consumer exports. */
export const metricsTable = (): string =>
  markdownTable(
    ['Name', 'Type', 'Labels', 'Micrometer name', 'Unit', 'Meaning'],
    Object.values<MetricDefinition>(METRICS).map(row),
  );
