import { cpSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import { count, countFinding, type Finding, verdictTable } from '../verdict/finding.ts';
import { timeToRecover } from '../verdict/positions.ts';
import { type ChaosStack, COUNTED_LOG_LINES, startChaosStack } from './chaos-stack.ts';
import { createTopicAgain, makeFault } from './faults.ts';
import { judge } from './judge.ts';
import type { ChaosOptions } from './options.ts';
import { describeFault, type FaultKind, FIRST_CONSUMERS, faultSchedule, type Step, TEMPLATE } from './schedule.ts';
import { deletedRecords, type Incarnation } from './side-topic.ts';

const MINUTE_MS = 60_000;
const RECOVERY_LIMIT_MS = 60_000;
const HEADINGS = ['fault', 'times', 'median recovery', 'longest recovery'];

/** One fault that was made. */
interface MadeFault {
  readonly kind: FaultKind;
  /**
   * Milliseconds from the end of the fault until records flowed again in every partition; undefined: beyond the limit.
   */
  readonly recoveryMs: number | undefined;
}

/**
 * Starts the stack, makes faults for the given minutes, and prints the verdict.
 *
 * @param signal ends it at the next step; there is no verdict then.
 * @returns whether every record was written exactly once and nothing else went wrong; undefined when the signal came.
 * @throws ExplainedError when a server or a consumer does not start.
 */
export async function runChaos(
  run: RunFolder,
  options: ChaosOptions,
  screen: Screen,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { minutes, seed, groupProtocol } = options;
  screen.line(
    `chaos run of ${minutes} min with --seed ${seed} --group-protocol ${groupProtocol}; starting Kafka, PostgreSQL and consumers ...`,
  );
  const stack = await startChaosStack(run, options, (text) => screen.line(text));
  run.beforeClose(async () => stack.fleet.abandon());
  await Promise.all([...FIRST_CONSUMERS.map((slot) => stack.fleet.add(slot)), stack.producer.start()]);
  await Promise.all(stack.fleet.processes.map((consumer) => consumer.waitForHealth()));
  screen.line(`started; logs in ${run.path} as long as it runs`);
  const made = await makeFaults(stack, options, screen, signal);
  if (signal.aborted) {
    return undefined;
  }
  screen.line('no more faults; waiting for the rest, then comparing ...');
  await Promise.all([
    stack.producer.stop(),
    stack.side.stop(),
    stack.templated.stop(),
    ...stack.keyed.map((each) => each.stop()),
  ]);
  const findings = [...(await judge(stack, seed)), recoveries(made)];
  await report(stack, made, findings, screen);
  return findings.every(({ isWell }) => isWell);
}

async function makeFaults(
  stack: ChaosStack,
  { minutes, seed }: ChaosOptions,
  screen: Screen,
  signal: AbortSignal,
): Promise<readonly MadeFault[]> {
  const made: MadeFault[] = [];
  const startedAt = performance.now();
  for (const step of faultSchedule(seed)) {
    await delay(step.quietMs, undefined, { signal }).catch(() => undefined);
    const elapsed = performance.now() - startedAt;
    if (signal.aborted || elapsed > minutes * MINUTE_MS) {
      break;
    }
    screen.line(`${clock(elapsed)}  ${step.faults.map(describeFault).join('; at the same time ')}`);
    const recoveryMs = await makeStep(stack, step);
    made.push(...step.faults.map(({ kind }) => ({ kind, recoveryMs })));
    screen.line(`       ${outcome(recoveryMs)}`);
  }
  return made;
}

/**
 * Two faults of a step begin together; the recovery is timed from the end of the longer one. A topic that was deleted
 * is created again once the other one flows without it.
 */
async function makeStep(stack: ChaosStack, { faults }: Step): Promise<number | undefined> {
  await Promise.all(faults.map((fault) => makeFault(stack, fault)));
  const recoveryMs = await recovery(stack);
  const recoveryAfterwardsMs = stack.side.isThere ? recoveryMs : await createdAgain(stack);
  stack.fleet.allowEnds(undefined);
  return recoveryAfterwardsMs === undefined ? undefined : recoveryMs;
}

async function createdAgain(stack: ChaosStack): Promise<number | undefined> {
  await createTopicAgain(stack);
  return recovery(stack);
}

/** The time until records flow in every partition of each topic that is there. */
async function recovery({ positions, side, templated, keyed }: ChaosStack): Promise<number | undefined> {
  const always = [positions, ...keyed, ...templated.there.map((topic) => topic.positions)];
  const topics = side.isThere ? [...always, side] : always;
  const times = await Promise.all(topics.map((topic) => timeToRecover(() => topic.read(), RECOVERY_LIMIT_MS)));
  return times.includes(undefined) ? undefined : Math.max(...times.map(Number));
}

function recoveries(made: readonly MadeFault[]): Finding {
  const recovered = made.filter(({ recoveryMs }) => recoveryMs !== undefined).length;
  return countFinding(`faults recovered from within ${RECOVERY_LIMIT_MS / 1_000} s`, made.length, recovered, []);
}

async function report(
  stack: ChaosStack,
  made: readonly MadeFault[],
  findings: readonly Finding[],
  screen: Screen,
): Promise<void> {
  const { producer, fleet, side, templated, keyed } = stack;
  const templatedTopics = await templated.incarnations();
  const { orders, burst } = producer.acknowledged;
  const coped = Object.entries(COUNTED_LOG_LINES).map(([what, line]) => `${count(fleet.counted(line))} ${what}`);
  const lines = [
    '',
    ...faultTable(made),
    '',
    `${count(orders + burst)} records acknowledged, ${count(producer.failures)} requests produced again; ` +
      `${count(fleet.started)} consumer processes, ${coped.join(', ')}`,
    ...keyed.map(
      ({ topic, producer: { acknowledged, failures } }) =>
        `${count(acknowledged.orders)} changes of ${topic} acknowledged, ${count(failures)} requests produced again`,
    ),
    `${side.written.topic}: ${deletionsOf(side.incarnations)}`,
    `${TEMPLATE}: ${count(templatedTopics.length)} topics created, ${deletionsOf(templatedTopics)}`,
    '',
    ...verdictTable(findings, (text, isWell) => screen.tint(text, isWell)),
  ];
  for (const line of lines) {
    screen.line(line);
  }
}

function deletionsOf(incarnations: readonly Incarnation[]): string {
  const { topics, all, unread } = deletedRecords(incarnations);
  return `${count(topics)} deleted, ${count(unread)} of their ${count(all)} records before they were read`;
}

const outcome = (recoveryMs: number | undefined): string =>
  recoveryMs === undefined
    ? `has not recovered ${RECOVERY_LIMIT_MS / 1_000} s after its end`
    : `recovered ${(recoveryMs / 1_000).toFixed(1)} s after its end`;

const clock = (ms: number): string =>
  `${String(Math.floor(ms / MINUTE_MS)).padStart(2)}:${String(Math.floor((ms % MINUTE_MS) / 1_000)).padStart(2, '0')}`;

/** The faults by kind, as lines of a Markdown table: how often, and the time to recover. */
export function faultTable(made: readonly MadeFault[]): readonly string[] {
  const kinds = [...new Set(made.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) => {
    const times = made
      .filter((fault) => fault.kind === kind)
      .map(({ recoveryMs }) => recoveryMs ?? Number.POSITIVE_INFINITY)
      .sort((a, b) => a - b);
    const median = times[Math.floor((times.length - 1) / 2)];
    return [kind, String(times.length), recoveryTime(median), recoveryTime(times.at(-1))];
  });
  return markdown([HEADINGS, ...rows]);
}

const recoveryTime = (ms = Number.POSITIVE_INFINITY): string =>
  Number.isFinite(ms) ? `${(ms / 1_000).toFixed(1)} s` : 'never';

function markdown(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const [headings = '', ...body] = rows.map((row) => line(row.map(pad)));
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [headings, line(rule), ...body];
}

/**
 * Copies the logs of a run to another folder, which stays when the run folder is removed.
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
