import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { faultTable, keepLogs } from '../../../dev/chaos/run-chaos.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

describe('the table of faults', () => {
  test('has a row for each kind, with the median and the longest recovery', () => {
    const table = faultTable([
      { kind: 'restart Kafka', recoveryMs: 9_000 },
      { kind: 'cut Kafka', recoveryMs: 300 },
      { kind: 'restart Kafka', recoveryMs: 1_000 },
      { kind: 'restart Kafka', recoveryMs: 2_040 },
    ]);
    expect(table).toEqual([
      '| fault         | times | median recovery | longest recovery |',
      '| ------------- | ----: | --------------: | ---------------: |',
      '| cut Kafka     |     1 |           0.3 s |            0.3 s |',
      '| restart Kafka |     3 |           2.0 s |            9.0 s |',
    ]);
  });

  test('tells what never recovered', () => {
    const table = faultTable([{ kind: 'lock table', recoveryMs: undefined }]);
    expect(table.at(-1)).toMatch(/^\| lock table \| +1 \| +never \| +never \|$/);
  });
});

test('keeps the logs of a run, and nothing else of it', () => {
  const run = temporaryFolder();
  mkdirSync(join(run, 'kafka-data'));
  writeFileSync(join(run, '5432.pgpass'), 'secret');
  writeFileSync(join(run, 'consumer-1.log'), 'line');
  const kept = keepLogs(run, temporaryFolder());
  expect(readdirSync(kept)).toEqual(['consumer-1.log']);
  expect(readFileSync(join(kept, 'consumer-1.log'), 'utf8')).toBe('line');
});
