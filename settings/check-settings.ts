import { type Checked, checkAgainst, type Rule } from './check.ts';
import { type Settings, SettingsSchema } from './settings.ts';
import { SETTINGS_RULES } from './settings-rules.ts';

/**
 * Checks the application's settings, given with the schema's own key names, and fills in the defaults. The consumer does
 * this at its start and synth does it with what goes into the ConfigMap, so both refuse the same things.
 *
 * @param rules further ones, of what only the process itself can see, such as files. @default none
 * @returns the complete, deeply frozen settings, or all problems at once.
 */
export function checkSettings(input: unknown, rules: readonly Rule<Settings>[] = []): Checked<Settings> {
  return checkAgainst(SettingsSchema, input, [...SETTINGS_RULES, ...rules]);
}
