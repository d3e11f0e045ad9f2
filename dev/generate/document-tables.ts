import type { SchemaNode } from '../../settings/schema.ts';
import { allowedValues } from '../../settings/schema-problems.ts';
import { listSettings, type SettingEntry } from '../../settings/setting-list.ts';
import { SettingsSchema } from '../../settings/settings.ts';
import { markdownTable } from './markdown-table.ts';

function defaultOf({ segments, isRequired, isRequiredInSection, schema }: SettingEntry): string {
  if (isRequired) {
    return '**required**';
  }
  if (isRequiredInSection) {
    return `required in \`${segments.slice(0, -1).join('.')}\``;
  }
  const text = String(schema.default ?? '');
  return text === '' ? '' : `\`${text}\``;
}

function row(setting: SettingEntry): readonly string[] {
  const { path, environmentName, schema } = setting;
  return [`\`${path}\``, `\`${environmentName}\``, defaultOf(setting), allowedValues(schema), schema.description ?? ''];
}

/** Every setting of `application.yml`. */
export const settingsTable = (): string =>
  markdownTable(
    ['Setting', 'Environment variable', 'Default', 'Allowed', 'Meaning'],
    listSettings(SettingsSchema as SchemaNode).map(row),
  );
