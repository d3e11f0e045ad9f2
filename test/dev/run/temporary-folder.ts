import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

const made: string[] = [];

/** A new empty folder; removed after the last test of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stream-consumer-test-'));
  made.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of made) {
    rmSync(folder, { recursive: true, force: true });
  }
});
