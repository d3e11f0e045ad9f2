import { ALERT_LEVELS, ALERTS, type AlertDefinition, type AlertLevelName } from '../../contract/alerts.ts';
import { EXIT_CODE, EXIT_CODE_OF_DEAD_LETTERS } from '../../contract/exit-code.ts';
import { FATAL_CODES } from '../../contract/fatal-codes.ts';
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

const SPANS = [
  ['day', 86_400],
  ['minute', 60],
] as const;

/** Seconds in the largest unit that they are two or more of: `7 days`, `60 s`. */
function spanOf(seconds: number): string {
  const [unit, length] = SPANS.find(([, of]) => seconds >= 2 * of) ?? ['s', 1];
  return `${seconds / length} ${unit}${length === 1 ? '' : 's'}`;
}

function shownThreshold(threshold: number, shows: AlertDefinition['shows']): string {
  return {
    number: () => threshold.toLocaleString('en'),
    share: () => `${Math.round(threshold * 1_000) / 10} %`,
    seconds: () => spanOf(threshold),
  }[shows ?? 'number']();
}

function firingCell({ shows, ...alert }: AlertDefinition, name: AlertLevelName): string {
  const level = alert[name];
  if (level === undefined) {
    return '';
  }
  const words = level.threshold === 0 ? level.fires.replaceAll('more than #', 'any') : level.fires;
  const text = words.replaceAll('#', shownThreshold(level.threshold, shows));
  const time = level.for === '0s' ? '' : `, for ${level.for}`;
  return `${text}${time}${level.isOptional === true ? ' (off unless switched on)' : ''}`;
}

/** What makes each alert fire by its defaults, in a few words. */
export const firingTable = (): string =>
  markdownTable(
    ['Alert', 'Warning', 'Critical'],
    Object.entries<AlertDefinition>(ALERTS).map(([name, alert]) => [
      `[${name}](runbooks/${name}.md)`,
      ...ALERT_LEVELS.map((level) => firingCell(alert, level)),
    ]),
  );

const LINE_COLUMNS = 120;

/** An item of a list in Markdown, in lines of at most 120 columns. */
function listItem(text: string): string {
  const lines = ['-'];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= LINE_COLUMNS) {
      lines[lines.length - 1] = line;
    } else {
      lines.push(`  ${word}`);
    }
  }
  return lines.join('\n');
}

/** Every code of the last line of a log, a heading each, so that the line can link to it. */
export const fatalCodesList = (): string =>
  Object.entries(FATAL_CODES)
    .map(([name, { meaning, firstStep, page, exitCode }]) => {
      const [file = ''] = page.split('#');
      const items = [
        `What it means: ${meaning}.`,
        `First: ${firstStep}.`,
        `Exit code ${exitCode}. More: [${file}](${page}).`,
      ];
      return [`### ${name}`, '', ...items.map(listItem)].join('\n');
    })
    .join('\n\n');

/** Every exit code of the consumer and of its commands. */
export const exitCodesTable = (): string =>
  markdownTable(
    ['Exit code', 'What it means', 'First'],
    [
      [EXIT_CODE.ok, 'done; the consumer was asked to end, handed over or drained, and left its group', 'nothing'],
      [EXIT_CODE.failed, 'a fatal error, or a second signal; of a command: not all was done', 'read the last line'],
      [EXIT_CODE_OF_DEAD_LETTERS, 'of `tables dry-run`: a record would be a dead letter', 'read which, and why'],
      [
        EXIT_CODE.configuration,
        'the configuration or the command line is wrong; nothing was written',
        'read all problems, or run `stream-consumer doctor`',
      ],
      [130, 'of a command: Ctrl-C (SIGINT) interrupted it', 'run it again'],
      [
        137,
        'SIGKILL: the container exceeded its memory limit, or did not end in its grace period',
        'see [MemoryHigh](runbooks/MemoryHigh.md)',
      ],
      [141, 'of a command: nobody reads its output any more (SIGPIPE)', 'nothing'],
      [143, 'of a command: SIGTERM interrupted it', 'run it again'],
    ].map((row) => row.map(String)),
  );
