import { escapeIdentifier } from 'pg';
import { recordsOf } from '../../../app/records/pack-records.ts';
import { copyInto, copyStatement } from '../../../app/store/copy/binary-copy.ts';
import { MIGRATIONS } from '../../../app/store/tables/migrations.ts';
import { encodeRecords, RECORDS } from '../../../app/store/tables/record-rows.ts';
import type { Stack } from '../../stack/local-stack.ts';
import { childrenCpuSeconds, cpuSeconds, memoryBytes } from '../bench-consumer.ts';
import { connectTo, type MeasuredProgram, type StartedProgram, untilRows } from '../measured-program.ts';
import { BENCHMARK_HEADER, benchmarkRecord } from '../produce-records.ts';

/** Schema and transactions of the baseline. */
const BASELINE_SCHEMA = 'copy_baseline';
const ROWS_PER_TRANSACTION = 10_000;

/** Every record is taken. */
const ADMISSION = { maxValueBytes: Number.POSITIVE_INFINITY, keyEncoding: 'text' } as const;

const POLL_MS = 50;

function* readyMadeRows(records: number): Generator<Buffer> {
  for (let from = 0; from < records; from += ROWS_PER_TRANSACTION) {
    const count = Math.min(ROWS_PER_TRANSACTION, records - from);
    const batch = Array.from({ length: count }, (_, nth) => ({
      ...benchmarkRecord(from + nth),
      offset: BigInt(from + nth),
      timestamp: 1_700_000_000_000n,
      headers: [BENCHMARK_HEADER],
    }));
    yield encodeRecords({ topic: 'orders', partition: 0 }, recordsOf(batch), ADMISSION).rows.all;
  }
}

/**
 * The rate of COPY over one connection, 10,000 rows a transaction, into a table like the consumer's. The rows are ready
 * before the clock starts.
 *
 * @returns rows per second
 */
async function copyBaseline(databaseUrl: string, records: number): Promise<number> {
  const client = await connectTo({ connectionString: databaseUrl });
  try {
    const schema = escapeIdentifier(BASELINE_SCHEMA);
    await client.query(`CREATE SCHEMA ${schema}; ${MIGRATIONS[0]?.sql(schema) ?? ''}`);
    const transactions = [...readyMadeRows(records)];
    await client.query('CHECKPOINT');
    const began = performance.now();
    for (const rows of transactions) {
      await copyInto(client, copyStatement(BASELINE_SCHEMA, RECORDS), { format: 'binary', rows: [rows] });
    }
    const seconds = (performance.now() - began) / 1_000;
    await client.query(`DROP SCHEMA ${schema} CASCADE`);
    return records / seconds;
  } finally {
    await client.end();
  }
}

/** One run of a program over the whole topic. */
export interface ConsumeResult {
  /** From the first rows to the last ones; not a number when there was but one transaction. */
  readonly rowsPerSecond: number;
  /** Processor time of the program's process, its start included, in seconds. */
  readonly cpuSeconds: number;
  /** Processor time of all of PostgreSQL's processes meanwhile. */
  readonly postgresCpuSeconds: number;
  /** Its resident memory at the peak, in bytes. */
  readonly peakMemoryBytes: number;
}

/**
 * Starts a program with a backlog and waits until PostgreSQL has all of the records. The clock runs from the first rows
 * that are seen there, without them: neither the start of the process nor its first fetch is in the rate.
 *
 * @param stack Kafka and PostgreSQL
 * @throws ExplainedError when the program ends before it is done
 */
export async function consumeBacklog(
  stack: Stack,
  start: () => Promise<StartedProgram>,
  records: number,
): Promise<ConsumeResult> {
  const postgresPid = stack.postgres?.pid ?? 0;
  const before = childrenCpuSeconds(postgresPid);
  const program = await start();
  const first = await untilRows(program, 1, POLL_MS);
  const last = await untilRows(program, records, POLL_MS);
  const figures = {
    cpuSeconds: cpuSeconds(program.pid),
    postgresCpuSeconds: childrenCpuSeconds(postgresPid) - before,
    peakMemoryBytes: memoryBytes(program.pid, 'VmHWM'),
  };
  await program.stop();
  return { ...figures, rowsPerSecond: ((records - first.rows) * 1_000) / (last.at - first.at) };
}

interface ThroughputPlan {
  readonly topic: string;
  /** Records in the topic. */
  readonly records: number;
  /** How often each program is measured. */
  readonly repeats: number;
}

/** What each repeat measured, in order: COPY of ready-made rows, and each program in the order of the programs. */
interface ThroughputResult {
  readonly baselines: readonly number[];
  readonly results: readonly (readonly ConsumeResult[])[];
}

/**
 * Measures COPY and each program in turn, as often as planned. Each other repeat goes through the programs backwards:
 * what the one before leaves to PostgreSQL to do is not always the same program's burden.
 *
 * @param onResult gets each result of several repeats
 */
export async function measureThroughput(
  stack: Stack,
  programs: readonly MeasuredProgram[],
  { topic, records, repeats }: ThroughputPlan,
  onResult: (what: string, result: ConsumeResult) => void,
): Promise<ThroughputResult> {
  const baselines: number[] = [];
  const results = programs.map((): ConsumeResult[] => []);
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    baselines.push(await copyBaseline(stack.postgres?.urlWithPassword ?? '', records));
    for (const [nth, program] of inTurn(programs, repeat)) {
      const result = await consumeBacklog(stack, () => program.start(topic, `bench_${repeat}_${nth}`), records);
      results[nth]?.push(result);
      if (repeats > 1) {
        onResult(`${repeat}/${repeats} ${program.title}`, result);
      }
    }
  }
  return { baselines, results };
}

/** The programs with their numbers, backwards in each other repeat. */
export function inTurn(
  programs: readonly MeasuredProgram[],
  repeat: number,
): readonly (readonly [number, MeasuredProgram])[] {
  const numbered = [...programs.entries()];
  return repeat % 2 === 1 ? numbered : numbered.reverse();
}

/** The figures of several runs, each one's median. */
export function medianResult(results: readonly ConsumeResult[]): ConsumeResult {
  const medianFigure = (figure: keyof ConsumeResult) => median(results.map((result) => result[figure]));
  return {
    rowsPerSecond: medianFigure('rowsPerSecond'),
    cpuSeconds: medianFigure('cpuSeconds'),
    postgresCpuSeconds: medianFigure('postgresCpuSeconds'),
    peakMemoryBytes: medianFigure('peakMemoryBytes'),
  };
}

export function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = (ascending.length - 1) / 2;
  return ((ascending[Math.floor(middle)] ?? Number.NaN) + (ascending[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
