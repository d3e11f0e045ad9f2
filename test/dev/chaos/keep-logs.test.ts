import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { keepLogs } from '../../../dev/chaos/keep-logs.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

it('keeps the logs of a run, and nothing else of it', () => {
  const run = temporaryFolder();
  mkdirSync(join(run, 'kafka-data'));
  writeFileSync(join(run, '5432.pgpass'), 'secret');
  writeFileSync(join(run, 'consumer-1.log'), 'line');
  const kept = keepLogs(run, temporaryFolder());
  expect(readdirSync(kept)).toEqual(['consumer-1.log']);
  expect(readFileSync(join(kept, 'consumer-1.log'), 'utf8')).toBe('line');
});
