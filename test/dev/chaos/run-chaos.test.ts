import { describe, expect, it } from '@jest/globals';
import { faultTable } from '../../../dev/chaos/fault-table.ts';

describe('the table of faults', () => {
  it('has a row for each kind, with the median and the longest recovery', () => {
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

  it('tells what never recovered', () => {
    const table = faultTable([{ kind: 'lock table', recoveryMs: undefined }]);
    expect(table.at(-1)).toMatch(/^\| lock table \| +1 \| +never \| +never \|$/);
  });
});
