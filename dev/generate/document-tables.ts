import { ALERT_LEVELS, ALERTS, type AlertDefinition } from '../../contract/alerts.ts';
import { METRICS, type MetricDefinition } from '../../contract/metrics.ts';
import type { SchemaNode } from '../../settings/schema/schema.ts';
import { allowedValues } from '../../settings/schema/schema-problems.ts';
import { listSettings, pathOf, type SettingEntry } from '../../settings/schema/setting-list.ts';
import { SettingsSchema } from '../../settings/settings.ts';

/**
 * Replaces the text between `<!-- generated:NAME -->` and `<!-- /generated:NAME -->` in a Markdown document; one
 * without the marks stays as it is.
 *
 * @throws Error when a section is opened and not closed.
 */
export function replaceSection(text: string, name: string, content: string): string {
  const opening = `<!-- generated:${name} -->`;
  const closing = `<!-- /generated:${name} -->`;
  const start = text.indexOf(opening);
  if (start < 0) {
    return text;
  }
  const end = text.indexOf(closing, start);
  if (end < 0) {
    throw new Error(`"${opening}" is never closed: add "${closing}" after it`);
  }
  return `${text.slice(0, start + opening.length)}\n\n${content}\n\n${text.slice(end)}`;
}

const escapeCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** A table in Markdown, one line for each row. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

const code = (text: string): string => `\`${text}\``;

function defaultOf({ segments, isRequired, isRequiredInSection, schema }: SettingEntry): string {
  if (isRequired) {
    return '**required**';
  }
  if (isRequiredInSection) {
    return `required in ${code(pathOf(segments.slice(0, -1)))}`;
  }
  const text = String(schema.default ?? '');
  return text === '' ? '' : code(text);
}

function settingRow(setting: SettingEntry): readonly string[] {
  const { path, environmentName, schema } = setting;
  return [code(path), code(environmentName), defaultOf(setting), allowedValues(schema), schema.description ?? ''];
}

/** Every setting of `application.yml`. */
export const settingsTable = (): string =>
  markdownTable(
    ['Setting', 'Environment variable', 'Default', 'Allowed', 'Meaning'],
    listSettings(SettingsSchema as SchemaNode).map(settingRow),
  );

const metricRow = ({
  name,
  type,
  labels,
  dotted,
  unit,
  help,
  linuxOnly = false,
}: MetricDefinition): readonly string[] => [
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
    Object.values<MetricDefinition>(METRICS).map(metricRow),
  );

function alertRow([name, alert]: readonly [string, AlertDefinition]): readonly string[] {
  const limits = ALERT_LEVELS.map((level) => {
    const { threshold, isOptional = false } = alert[level] ?? {};
    return `${threshold?.toLocaleString('en') ?? ''}${isOptional ? ' (off unless switched on)' : ''}`;
  });
  const times = new Set(ALERT_LEVELS.flatMap((level) => alert[level]?.for ?? []));
  return [
    `[${name}](runbooks/${name}.md)`,
    alert.limit,
    ...limits,
    [...times].join(', then '),
    alert.keepFiringFor,
    alert.times,
  ];
}

/** Every alert with its defaults. */
export const alertsTable = (): string =>
  markdownTable(
    ['Alert', 'Limit of', 'Warning', 'Critical', 'Holds for', 'Kept for', 'Why these times'],
    Object.entries<AlertDefinition>(ALERTS).map(alertRow),
  );
