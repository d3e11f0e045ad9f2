import type { Stack } from '../../stack/local-stack.ts';
import { megabytes, microseconds, percent, print, rate } from '../figures.ts';
import type { BenchOptions } from '../options.ts';
import { type ManyTablesResult, measureManyTables } from './many-tables.ts';

const RECORDS = 1_000_000;
const RATE = 2_000;
const SECONDS = 60;

const GOALS = { processorTime: 2, rowsPerSecond: 0.5 } as const;

/** Measures each number of tables, and compares it with the first one. */
export async function benchManyTables(
  stack: Stack,
  counts: readonly number[],
  { records = RECORDS, rate: recordsPerSecond = RATE, seconds = SECONDS }: BenchOptions['numbers'],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  let first: ManyTablesResult | undefined;
  for (const count of counts) {
    console.log(`${count} ${count === 1 ? 'table' : 'tables'} ...`);
    const result = await measureManyTables(stack, count, { records, recordsPerSecond, seconds }, env);
    printResult(result, records);
    if (first !== undefined) {
      printRatios(result, first, counts[0] ?? 0);
    }
    first ??= result;
  }
}

function printResult({ backlog, steady }: ManyTablesResult, records: number): void {
  const { rowsPerSecond, cpuSeconds, postgresCpuSeconds, peakMemoryBytes } = backlog;
  const work = `${microseconds(cpuSeconds, records)} + ${microseconds(postgresCpuSeconds, records)} µs a row`;
  print('  a backlog', `${rate(rowsPerSecond)}, ${work}, ${megabytes(peakMemoryBytes)} at most`);
  const transactions = `${steady.transactionsPerSecond.toFixed(0)} transactions/s`;
  print(
    '  a steady load',
    `${rate(steady.rowsPerSecond)}, ${transactions}, ${megabytes(steady.peakMemoryBytes)} at most`,
  );
  const shares = [steady.consumerShare, steady.postgresShare].map((share) => percent(share));
  print('    processor time: the consumer, PostgreSQL', shares.join(', '));
  for (const { catalog, bytes, bytesAnHour, live, dead, writtenAnHour } of steady.catalogs) {
    const growth = `${(bytesAnHour / 1e6).toFixed(1)} MB and ${Math.round(writtenAnHour)} written rows an hour`;
    print(`    ${catalog}: size, rows (dead)`, `${(bytes / 1e6).toFixed(1)} MB, ${live} (${dead}); ${growth}`);
  }
}

function printRatios(result: ManyTablesResult, first: ManyTablesResult, count: number): void {
  const share = ({ steady }: ManyTablesResult) => steady.consumerShare + steady.postgresShare;
  const times = (ratio: number, goal: string) => `${ratio.toFixed(2)}   ${goal}`;
  const backlog = result.backlog.rowsPerSecond / first.backlog.rowsPerSecond;
  print(`  the backlog's rows/s beside ${count}; goal`, times(backlog, `at least ${GOALS.rowsPerSecond}`));
  const processorTime = share(result) / share(first);
  print(`  processor time of the load beside ${count}; goal`, times(processorTime, `at most ${GOALS.processorTime}`));
}
