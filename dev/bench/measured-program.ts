import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { ConsumerProcess } from '../run/consumer-process.ts';
import { ExplainedError } from '../run/explained-error.ts';
import { LogLines } from '../run/log-lines.ts';
import type { ExitStatus } from '../run/owned-process.ts';
import type { Stack } from '../stack/local-stack.ts';
import { type BenchTarget, startBenchConsumer } from './bench-consumer.ts';
import type { BesideOptions } from './options.ts';

/** A program that reads a topic into PostgreSQL: the consumer, or one that is measured beside it. */
export interface MeasuredProgram {
  readonly title: string;
  /**
   * Starts it, with all of the topic before it.
   *
   * @param schema PostgreSQL schema of this start alone
   */
  start(topic: string, schema: string): Promise<StartedProgram>;
}

/** A measured program at work. */
export interface StartedProgram {
  readonly pid: number;
  readonly exited: Promise<ExitStatus>;
  readonly logs: LogLines;
  /** Rows that it has written so far. */
  rows(): Promise<number>;
  /** Ends it and drops its schema. */
  stop(): Promise<void>;
}

/** SQLSTATE `undefined_table`. */
const UNDEFINED_TABLE = '42P01';
const TAIL_LINES = 5;
const ROWS_LIMIT_MS = 600_000;

/**
 * Waits until a program has written so many rows.
 *
 * @param pollMs milliseconds between two looks
 * @returns what the last look found, and when, by performance.now()
 * @throws ExplainedError when the program ends before, or the rows are not there after ten minutes
 */
export async function untilRows(program: StartedProgram, wanted: number, pollMs: number) {
  const deadline = performance.now() + ROWS_LIMIT_MS;
  let hasEnded = false;
  void program.exited.then(() => {
    hasEnded = true;
  });
  for (;;) {
    const [rows, at] = [await program.rows(), performance.now()];
    if (rows >= wanted) {
      return { rows, at };
    }
    if (hasEnded || at > deadline) {
      const what = hasEnded ? 'ended' : `took ${ROWS_LIMIT_MS / 1_000} s`;
      const problem = `A measured program ${what}, with ${rows} of ${wanted} rows written; the end of its log:`;
      throw new ExplainedError([problem, ...program.logs.all.slice(-TAIL_LINES)].join('\n'));
    }
    await delay(pollMs);
  }
}

/** Sum of the next offsets: it costs little to ask for, often. */
const OFFSETS_QUERY = 'SELECT coalesce(sum(next_offset), 0) AS rows FROM offsets';

/**
 * A consumer of this repository.
 *
 * @param env environment variables of its process
 * @param rowsQuery gives the number of rows, in its schema. @default the sum of the next offsets
 */
export function consumerProgram(
  stack: Stack,
  env: Readonly<Record<string, string>>,
  rowsQuery = OFFSETS_QUERY,
): MeasuredProgram {
  return {
    title: 'the consumer',
    start: (topic, schema) => startConsumer(stack, { topics: [topic], schema }, env, rowsQuery),
  };
}

/** Starts a consumer of this repository, and waits until it has partitions. */
export async function startConsumer(
  stack: Stack,
  target: BenchTarget & { readonly schema: string },
  env: Readonly<Record<string, string>>,
  rowsQuery = OFFSETS_QUERY,
): Promise<StartedProgram & ConsumerProcess> {
  const consumer = await startBenchConsumer(stack, target, env);
  await consumer.logs.waitFor(/"msg":"assigned"/);
  return { ...consumer, ...(await schemaOf(stack, target.schema, rowsQuery, consumer)) };
}

/** The value of a placeholder of the command. */
export interface BesideTarget {
  readonly brokers: string;
  /** URL with the password, and the schema as search path. */
  readonly database: string;
  readonly schema: string;
  readonly topic: string;
  readonly group: string;
}

/** The shell command with each placeholder, such as `{topic}`, replaced by its value in quotes. */
export function besideCommand(command: string, target: BesideTarget): string {
  const quoted = (value: string) => `'${value.replaceAll("'", String.raw`'\''`)}'`;
  return Object.entries(target).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, quoted(value)), command);
}

/** A program of another repository, which gets a schema for the tables that its set-up makes. */
export function besideProgram(stack: Stack, { command, rowsQuery, setup }: BesideOptions): MeasuredProgram {
  return {
    title: basename(command.split(' ')[0] ?? command),
    start: async (topic, schema) => {
      const database = `${stack.postgres?.urlWithPassword}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
      const client = await connectTo({ connectionString: database });
      await client.query(`CREATE SCHEMA ${schema}`);
      await client.query(setup === undefined ? '' : await readFile(setup, 'utf8'));
      await client.end();
      const target = { brokers: stack.kafka?.broker ?? '', database, schema, topic, group: `bench-${schema}` };
      const logs = new LogLines();
      const process = await stack.run.spawn({
        program: 'bash',
        args: ['-c', `exec ${besideCommand(command, target)}`],
        cwd: globalThis.process.cwd(),
        onLine: (line) => logs.add(line),
      });
      return { ...process, logs, ...(await schemaOf(stack, schema, rowsQuery, process)) };
    },
  };
}

/** A connection in a program's schema, which ends with the program. */
async function schemaOf(
  { postgres }: Stack,
  schema: string,
  rowsQuery: string,
  process: Pick<StartedProgram, 'exited'> & { kill(signal: NodeJS.Signals): void },
): Promise<Pick<StartedProgram, 'rows' | 'stop'>> {
  const client = await connectTo({
    connectionString: postgres?.urlWithPassword,
    options: `-c search_path=${schema}`,
  });
  return {
    rows: async () => {
      const { rows } = await client.query<unknown[]>({ text: rowsQuery, rowMode: 'array' }).catch(noRowsWithoutTable);
      return Number(rows[0]?.[0] ?? 0);
    },
    stop: async () => {
      process.kill('SIGTERM');
      await process.exited;
      await client.query(`DROP SCHEMA ${schema} CASCADE`);
      await client.end();
    },
  };
}

/** A program that makes its tables itself has none at first. */
function noRowsWithoutTable(error: pg.DatabaseError) {
  if (error.code === UNDEFINED_TABLE) {
    return { rows: [] };
  }
  throw error;
}

/** A connection that PostgreSQL may end: the next query on it fails, and nothing else does. */
export async function connectTo(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
