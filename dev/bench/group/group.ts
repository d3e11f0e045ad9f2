import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import type pg from 'pg';
import { ExplainedError } from '../../run/explained-error.ts';
import type { Stack } from '../../stack/local-stack.ts';
import { ensureTopic } from '../../stack/topic.ts';
import { WARM_UP_SECONDS, writeBenchSettings } from '../bench-consumer.ts';
import { forkSource, message } from '../forked-source.ts';
import { connectTo } from '../measured-program.ts';
import type { GroupScenario } from '../options.ts';
import { type GroupDelays, groupDelays, type WrittenRecord } from './group-delays.ts';
import { GroupMembers } from './group-members.ts';

/** What is watched after the last member has its partitions. */
const TAIL_MS = 4_000;
const POLL_MS = 100;
const ROWS_LIMIT_MS = 120_000;
/** A container that has ended is started again sooner or later, never at once. */
const RESTART_MS = 500;

interface ScenarioRun {
  readonly title: string;
  /** What is done to the group; the first member leads it. */
  readonly run: (group: GroupMembers, onProgress: (text: string) => void) => Promise<void>;
}

/** What is done to a group whose members all have partitions. */
export const SCENARIO_RUNS: Readonly<Record<GroupScenario, ScenarioRun>> = {
  stop: { title: 'stop one', run: (group) => group.stop(1) },
  half: { title: 'stop half at once', run: (group) => group.stop(Math.ceil(group.size / 2)) },
  add: { title: 'add one', run: (group) => group.add(1) },
  roll: {
    title: 'roll all',
    run: async (group, onProgress) => {
      const { size } = group;
      for (let nth = 1; nth <= size; nth += 1) {
        onProgress(`${nth} of ${size}`);
        await group.add(1);
        await group.settled();
        await group.stop(1);
        await group.settled();
      }
    },
  },
  replace: {
    title: 'roll all without a surge',
    run: async (group, onProgress) => {
      const { size } = group;
      for (let nth = 1; nth <= size; nth += 1) {
        onProgress(`${nth} of ${size}`);
        // A Pod that is being ended does not count any more: its successor is started at once.
        await Promise.all([group.stop(1), group.add(1)]);
        await group.settled();
      }
    },
  },
  kill: {
    title: 'kill one',
    run: async (group) => void (await group.kill()),
  },
  restart: {
    title: 'kill one, start it again after 0.5 s',
    run: async (group) => {
      const place = await group.kill();
      await delay(RESTART_MS);
      await group.startIn(place);
    },
  },
};

interface GroupPlan {
  readonly members: number;
  readonly partitions: number;
  readonly recordsPerSecond: number;
  /** Environment variables of each member. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a scenario did to the records. */
export interface ScenarioResult extends GroupDelays {
  /** Records that were produced in all, each of which is one row. */
  readonly rows: number;
}

/**
 * Starts a group of consumers under a steady load, does what the scenario says, and looks how long the records of that
 * time had to wait. Topic, group and schema are the scenario's own. The server has to keep the times of commits.
 *
 * @param name of topic and schema, which nothing else has
 * @param onProgress gets what is done now
 * @throws ExplainedError when a member does not get partitions or ends by itself, or when not each record is one row
 */
export async function measureScenario(
  stack: Stack,
  scenario: GroupScenario,
  { name, plan, onProgress }: { name: string; plan: GroupPlan; onProgress: (text: string) => void },
): Promise<ScenarioResult> {
  const { members, partitions, recordsPerSecond, env } = plan;
  const broker = stack.kafka?.broker ?? '';
  const kafka = new Kafka({ clientId: 'bench', brokers: [broker], logLevel: logLevel.NOTHING });
  await ensureTopic(kafka, name, partitions);
  const configFile = await writeBenchSettings(stack, { schema: name, topics: [name] });
  const client = await connectTo({ connectionString: stack.postgres?.urlWithPassword });
  const group = new GroupMembers({ run: stack.run, configFile, partitions, env });
  const load = forkSource('load-process.ts', [broker, name, String(partitions), String(recordsPerSecond)]);
  try {
    onProgress(`starting ${members} members`);
    await group.begin(members);
    await message(load);
    onProgress('waiting for its first records');
    await partitionsWritten(client, name, partitions);
    await delay(WARM_UP_SECONDS * 1_000);
    onProgress('under way');
    const from = Date.now();
    await SCENARIO_RUNS[scenario].run(group, onProgress);
    await group.settled();
    await delay(TAIL_MS);
    const window = { from, to: Date.now() };
    const rows = await endLoad(load, client, name);
    const delays = groupDelays(await writtenRecords(client, name, rows), window);
    await group.stop(group.size);
    await client.query(`DROP SCHEMA ${name} CASCADE`);
    return { ...delays, rows };
  } finally {
    load.disconnect();
    await client.end();
  }
}

/**
 * A member may have its partitions and not read them yet, as long as its group makes sure that no other database has
 * it.
 */
async function partitionsWritten(client: pg.Client, schema: string, partitions: number): Promise<void> {
  const query = `SELECT count(*) AS count FROM ${schema}.offsets WHERE next_offset > 0`;
  await untilCount(client, query, partitions);
}

/**
 * Ends the load, and waits until the stored offsets are those of its last records. @returns the number of its records
 */
async function endLoad(load: ChildProcess, client: pg.Client, schema: string): Promise<number> {
  const ended = message<number>(load);
  load.send('over');
  const records = await ended;
  await untilCount(client, `SELECT coalesce(sum(next_offset), 0) AS count FROM ${schema}.offsets`, records);
  return records;
}

/** Waits until a query counts so many. @throws ExplainedError when it does not within two minutes */
async function untilCount(client: pg.Client, query: string, wanted: number): Promise<void> {
  const deadline = Date.now() + ROWS_LIMIT_MS;
  for (;;) {
    const { rows } = await client.query<{ count: string }>(query);
    const count = Number(rows[0]?.count);
    if (count >= wanted) {
      return;
    }
    if (Date.now() > deadline) {
      const seconds = ROWS_LIMIT_MS / 1_000;
      throw new ExplainedError(
        `The group did not write what it had to within ${seconds} s: ${query} is ${count}, not ${wanted}.`,
      );
    }
    await delay(POLL_MS);
  }
}

/** Each record with the time of its transaction's commit. @throws ExplainedError when not each one is there once */
async function writtenRecords(client: pg.Client, schema: string, records: number): Promise<readonly WrittenRecord[]> {
  const { rows } = await client.query<WrittenRecord & { readonly offset: string }>(
    `SELECT partition, "offset", extract(epoch FROM timestamp)::float8 * 1000 AS "producedAt",
       extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 * 1000 AS "committedAt" FROM ${schema}.records`,
  );
  const places = new Set(rows.map(({ partition, offset }) => `${partition}/${offset}`));
  if (rows.length !== records || places.size !== records) {
    throw new ExplainedError(
      `The group wrote ${rows.length} rows of ${places.size} records; produced were ${records}.`,
    );
  }
  return rows;
}

const COLUMNS = [
  { heading: 'scenario', width: 40 },
  { heading: 'p99', width: 10 },
  { heading: 'longest', width: 10 },
  { heading: 'partitions over 1 s', width: 22 },
  { heading: 'partition-seconds over it', width: 28 },
  { heading: 'records', width: 10 },
] as const;

const row = (cells: readonly string[]): string =>
  cells
    .map((cell, nth) => (nth === 0 ? cell.padEnd(COLUMNS[nth]?.width ?? 0) : cell.padStart(COLUMNS[nth]?.width ?? 0)))
    .join('');

export const groupHeading = (): string => row(COLUMNS.map(({ heading }) => heading));

/** A line of the table below {@link groupHeading}. */
export function groupRow(title: string, result: ScenarioResult): string {
  const { p99, longest, stalledPartitions, stalledSeconds, records } = result;
  const delays = [p99, longest].map((seconds) => `${seconds.toFixed(2)} s`);
  return row([title, ...delays, String(stalledPartitions), stalledSeconds.toFixed(1), records.toLocaleString('en')]);
}
