import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { RunFolder } from './run-folder.ts';

const SETTINGS = join(import.meta.dirname, '..', 'application.yml');

/** Writes dev/application.yml with the setting `tables` into the run's folder. @returns its path */
export async function settingsWithTables(run: RunFolder, tables: readonly object[]): Promise<string> {
  const configFile = join(run.path, 'application.yml');
  await writeFile(configFile, `${await readFile(SETTINGS, 'utf8')}\n${stringify({ tables })}`, { mode: 0o600 });
  return configFile;
}
