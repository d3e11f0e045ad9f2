import { Kafka, logLevel } from 'kafkajs';
import type pg from 'pg';
import { ExplainedError } from '../../run/explained-error.ts';
import type { Stack } from '../../stack/local-stack.ts';
import { ensureTopic } from '../../stack/topic.ts';
import { shareOfCore, WARM_UP_SECONDS } from '../bench-consumer.ts';
import { percent, print, rate } from '../figures.ts';
import { forkSource, message } from '../forked-source.ts';
import { connectTo, type MeasuredProgram, untilRows } from '../measured-program.ts';
import { printDelays, type RecordDelays, recordDelays } from '../record-delays.ts';
import { inTurn, median } from './throughput.ts';

/** Seldom: each count of the rows is work for PostgreSQL. */
const POLL_MS = 500;

/** Counts each row, where a sum of offsets would believe the program. */
export const EVERYDAY_ROWS_QUERY = 'SELECT count(*) FROM records';

interface EverydayLoad {
  readonly recordsPerSecond: number;
  readonly partitions: number;
  /** How long to watch. */
  readonly seconds: number;
}

interface EverydayResult {
  /** Processor time of the program's process, as a share of one core. */
  readonly shareOfCore: number;
  readonly rowsPerSecond: number;
  /** Transactions that PostgreSQL committed, of whatever client. */
  readonly transactionsPerSecond: number;
  /** Records that were produced in all, each of which is a row. */
  readonly records: number;
  /** What the records of that time waited for; `undefined` where the program keeps no timestamps. */
  readonly delays: RecordDelays | undefined;
}

/**
 * Processor time of each program under a steady load in small batches, one after the other, several times in turn.
 *
 * @returns what each repeat measured, in the order of the programs
 */
export async function measureEveryday(
  stack: Stack,
  programs: readonly MeasuredProgram[],
  { repeats, ...load }: EverydayLoad & { readonly repeats: number },
): Promise<readonly (readonly EverydayResult[])[]> {
  const results = programs.map((): EverydayResult[] => []);
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    for (const [nth, program] of inTurn(programs, repeat)) {
      const name = `everyday_${load.partitions}_${repeat}_${nth}`;
      results[nth]?.push(await measureProgram(stack, program, name, load));
    }
  }
  return results;
}

/**
 * Another process produces the load.
 *
 * @param name of the topic and the schema, which nothing else has
 * @throws ExplainedError when not each record that was produced is a row in the end
 */
async function measureProgram(
  stack: Stack,
  program: MeasuredProgram,
  name: string,
  { partitions, recordsPerSecond, seconds }: EverydayLoad,
): Promise<EverydayResult> {
  const broker = stack.kafka?.broker ?? '';
  const client = await connectTo({ connectionString: stack.postgres?.urlWithPassword });
  const kafka = new Kafka({ clientId: 'bench', brokers: [broker], logLevel: logLevel.NOTHING });
  await ensureTopic(kafka, name, partitions);
  const started = await program.start(name, name);
  const producer = forkSource('load-process.ts', [broker, name, String(partitions), String(recordsPerSecond)]);
  try {
    await message(producer);
    await untilRows(started, 1, POLL_MS);
    await shareOfCore(started.pid, WARM_UP_SECONDS);
    const counts = async () => [await started.rows(), await committedTransactions(client)] as const;
    const [rowsBefore, committedBefore] = await counts();
    const from = Date.now();
    const share = await shareOfCore(started.pid, seconds);
    const window = { from, to: Date.now() };
    const [rowsAfter, committedAfter] = await counts();
    const total = message<number>(producer);
    producer.send('over');
    const records = await total;
    const { rows } = await untilRows(started, records, POLL_MS);
    if (rows !== records) {
      throw new ExplainedError(`${program.title} wrote ${rows} rows of ${records} records: some were written twice.`);
    }
    return {
      shareOfCore: share,
      rowsPerSecond: (rowsAfter - rowsBefore) / seconds,
      transactionsPerSecond: (committedAfter - committedBefore) / seconds,
      records,
      delays: await recordDelays(client, name, window),
    };
  } finally {
    producer.disconnect();
    await started.stop();
    await client.end();
  }
}

/** A line for each time that a program was measured, and how the first one is to the second. */
export function printEveryday(
  programs: readonly MeasuredProgram[],
  results: readonly (readonly EverydayResult[])[],
): void {
  for (const [nth, { title }] of programs.entries()) {
    for (const { shareOfCore: share, rowsPerSecond, transactionsPerSecond, records, delays } of results[nth] ?? []) {
      const rows = `${rate(rowsPerSecond)}, ${Math.round(transactionsPerSecond)} transactions/s`;
      print(title, `${percent(share)}, ${rows}, each of ${records.toLocaleString('en')} records a row`);
      if (delays !== undefined) {
        printDelays('  a record waits for', delays);
      }
    }
  }
  const [ours = 0, beside] = results.map((runs) => median(runs.map((run) => run.shareOfCore)));
  if ((results[0]?.length ?? 0) > 1) {
    print('median', percent(ours));
  }
  if (beside !== undefined) {
    print(`ratio to ${programs[1]?.title}`, `${(ours / beside).toFixed(2)} of its processor time`);
  }
}

/** Transactions of whatever client that PostgreSQL committed so far. */
export async function committedTransactions(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ committed: string }>(
    'SELECT xact_commit AS committed FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.committed);
}
