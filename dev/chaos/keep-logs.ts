import { cpSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Copies the logs of a run to where they outlive it.
 *
 * @returns the folder with the copies.
 */
export function keepLogs(runFolder: string, parent: string = tmpdir()): string {
  const kept = mkdtempSync(join(parent, 'stream-consumer-chaos-'));
  for (const name of readdirSync(runFolder).filter((file) => file.endsWith('.log'))) {
    cpSync(join(runFolder, name), join(kept, name));
  }
  return kept;
}
