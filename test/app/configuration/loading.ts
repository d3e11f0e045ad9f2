import { loadSettings, type SettingsSources } from '../../../app/configuration/load-settings.ts';
import { describeProblem, type Problem } from '../../../settings/schema/problem.ts';
import type { Settings } from '../../../settings/settings.ts';
import { folderWith } from './folder.ts';

/** The least that settings need, as an environment. */
export const REQUIRED = {
  KAFKA_BROKERS: 'localhost:9092',
  KAFKA_TOPICS: 'orders',
  KAFKA_GROUP_ID: 'orders-to-postgres',
  DATABASE_URL: 'postgresql://localhost/orders',
};

/** A folder without any file. */
const EMPTY = folderWith({});

/** Loads settings that are right. */
export function load(sources: Partial<SettingsSources>): Settings {
  const loaded = loadSettings({ env: REQUIRED, cwd: EMPTY, ...sources });
  if (!loaded.ok) {
    throw new Error(loaded.problems.map(describeProblem).join('\n'));
  }
  return loaded.value;
}

/** Loads settings that are wrong. */
export function problems(sources: Partial<SettingsSources>): readonly Problem[] {
  const loaded = loadSettings({ env: REQUIRED, cwd: EMPTY, ...sources });
  return loaded.ok ? [] : loaded.problems;
}

/** What is warned of, whether the settings are right or not. */
export const warnings = (sources: Partial<SettingsSources>): readonly string[] =>
  loadSettings({ env: REQUIRED, cwd: EMPTY, ...sources }).warnings;

/** A folder with this application.yml. */
export const yaml = (text: string): string => folderWith({ 'application.yml': text });
