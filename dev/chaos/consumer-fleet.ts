import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConsumerProcess, runConsumerCommand, startConsumerProcess } from '../run/consumer-process.ts';
import { freePort } from '../run/free-port.ts';
import { describeExit, type ExitStatus, terminate } from '../run/owned-process.ts';
import { processIdentity } from '../run/recorded-processes.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { forgetClockOf, type SetClock, setClock } from '../run/set-clock.ts';

const CONFIG_FILE = join(import.meta.dirname, '..', 'application.yml');
/** Above the consumer's own `shutdown.timeout`: a consumer that is killed for being late has failed. */
const DRAIN_TIMEOUT_MS = 40_000;
/** A consumer that ends by itself each time must not keep the machine busy. */
const RESTART_PAUSE_MS = 500;
/** Lines of the log for requests: more than a pipe and the 1 MiB that the consumer keeps for a reader that is late. */
const FILLER = { requests: 200, atOnce: 20, query: 'x'.repeat(10_000) } as const;
/** A longer line is filler. */
const LONGEST_KEPT_LINE = 5_000;

/** The line of the log from which on SIGTERM is the consumer's. */
export const LISTENING = /"listening"/;

/** How long a consumer may take to be refused, outages included. */
const REFUSAL_TIMEOUT_MS = 120_000;

/** How a consumer that is refused has to end. */
interface Refused {
  readonly exitCode: number;
  readonly code: string;
}

interface Member {
  readonly process: ConsumerProcess;
  /** The end that the fleet has asked for; undefined: none. */
  expected: 'kill' | 'stop' | undefined;
  /** Settles when the process is gone and, unless it was removed, another one runs in its place. */
  settled: Promise<void>;
}

/**
 * Consumers as separate processes in numbered slots, and their supervisor: one that is gone is started again. A
 * consumer that ends by itself is a problem.
 */
export class ConsumerFleet {
  readonly #run: RunFolder;
  readonly #env: Readonly<Record<string, string>>;
  readonly #members = new Map<number, Member>();
  readonly #clocks = new Map<number, SetClock>();
  readonly #pids = new Map<number, string | undefined>();
  readonly #problems: string[] = [];
  readonly #counts = new Map<RegExp, number>();
  #allowedReason: RegExp | undefined;
  #allowedEnds = 0;

  /**
   * @param env settings of every consumer, by their environment names.
   * @param count lines of the consumers' logs to count.
   */
  constructor(run: RunFolder, env: Readonly<Record<string, string>>, count: readonly RegExp[]) {
    this.#run = run;
    this.#env = env;
    for (const pattern of count) {
      this.#counts.set(pattern, 0);
    }
  }

  /** The slots with a consumer. */
  get slots(): readonly number[] {
    return [...this.#members.keys()];
  }

  get processes(): readonly ConsumerProcess[] {
    return [...this.#members.values()].map((member) => member.process);
  }

  /** Processes started so far. */
  get started(): number {
    return this.#pids.size;
  }

  /** Consumers that ended by themselves, or wrongly after SIGTERM. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Consumers that ended by themselves for the reason that was allowed. */
  get allowedEnds(): number {
    return this.#allowedEnds;
  }

  /** Takes ends with this in the last words for no problem. @param reason undefined: no such end */
  allowEnds(reason: RegExp | undefined): void {
    this.#allowedReason = reason;
  }

  /** Runs a command of the consumer's program, with the same settings. @throws Error with its output when it fails. */
  async command(...args: readonly string[]): Promise<void> {
    const { code, output } = await runConsumerCommand(this.#run, { configFile: CONFIG_FILE, env: this.#env }, args);
    if (code !== 0) {
      throw new Error(`${args.join(' ')} ended with exit code ${code}: ${output.join('\n')}`);
    }
  }

  /**
   * Starts a consumer of another group beside the others, which has to end by itself with the exit code and the code of
   * its last words before it writes; anything else is a problem.
   *
   * @param env settings that differ from those of the others.
   */
  async refuse(env: Readonly<Record<string, string>>, { exitCode, code }: Refused): Promise<void> {
    const process = await startConsumerProcess(this.#run, { configFile: CONFIG_FILE, env: { ...this.#env, ...env } });
    this.#pids.set(process.pid, processIdentity(process.pid));
    const late = setTimeout(() => process.kill('SIGKILL'), REFUSAL_TIMEOUT_MS);
    const exit = await process.exited;
    clearTimeout(late);
    const words = lastWords(process);
    if (!this.#run.isClosed && !(exit.code === exitCode && words.includes(code))) {
      this.#problems.push(`a consumer of another group ended with ${describeExit(exit)} instead of ${code}: ${words}`);
    }
  }

  /** How often a line of a log matched. */
  counted(pattern: RegExp): number {
    return this.#counts.get(pattern) ?? 0;
  }

  /** Processes of this fleet that are still there. */
  leftover(): readonly number[] {
    return [...this.#pids].filter(([pid, is]) => is !== undefined && processIdentity(pid) === is).map(([pid]) => pid);
  }

  /** Starts a consumer; resolves when its process is there. */
  async add(slot: number): Promise<ConsumerProcess> {
    const process = await startConsumerProcess(this.#run, {
      configFile: CONFIG_FILE,
      port: await freePort(),
      env: { ...this.#env, ...this.#clock(slot).env },
    });
    this.#pids.set(process.pid, processIdentity(process.pid));
    this.#keepLog(slot, process);
    const member: Member = { process, expected: undefined, settled: Promise.resolve() };
    member.settled = process.exited.then((exit) => this.#onExit(slot, member, exit));
    this.#members.set(slot, member);
    return process;
  }

  /** Ends a consumer by SIGKILL; resolves when another one was started in its place. */
  async kill(slot: number): Promise<void> {
    const member = this.#member(slot);
    member.expected = 'kill';
    member.process.kill('SIGKILL');
    await member.settled;
  }

  /** Stops a consumer by SIGSTOP, and lets it go on after `ms` milliseconds. */
  async freeze(slot: number, ms: number): Promise<void> {
    const { process } = this.#member(slot);
    process.kill('SIGSTOP');
    try {
      await delay(ms);
    } finally {
      process.kill('SIGCONT');
    }
  }

  /** Sets the clock of a consumer off by hours, and right again after `ms` milliseconds. */
  async setClock(slot: number, hours: number, ms: number): Promise<void> {
    const clock = this.#clock(slot);
    clock.setOff(`${hours > 0 ? '+' : ''}${hours}h`);
    await delay(ms);
    clock.setOff('+0');
  }

  /** Fills the standard output of a consumer, and reads it again after `ms` milliseconds. */
  async fillOutput(slot: number, ms: number): Promise<void> {
    const { process } = this.#member(slot);
    process.readOutput(false);
    try {
      await Promise.all([fillLog(process), delay(ms)]);
    } finally {
      process.readOutput(true);
    }
  }

  /** Ends a consumer by SIGTERM, as a deployment does. */
  async remove(slot: number): Promise<void> {
    const member = this.#member(slot);
    // Before that, the signal would meet Node itself, not the consumer.
    await member.process.logs.waitFor(LISTENING);
    member.expected = 'stop';
    await terminate(member.process, 'SIGTERM', DRAIN_TIMEOUT_MS);
    await member.settled;
  }

  /** Removes all of them at once. */
  async stop(): Promise<void> {
    await Promise.all(this.slots.map((slot) => this.remove(slot)));
  }

  /** Ends all of them by SIGKILL: the run was interrupted and has no verdict. */
  abandon(): void {
    for (const { process } of this.#members.values()) {
      process.kill('SIGKILL');
    }
  }

  #member(slot: number): Member {
    const member = this.#members.get(slot);
    if (member === undefined) {
      throw new Error(`there is no consumer ${slot}`);
    }
    return member;
  }

  /** The clock of a slot: it stays as it is set when another process takes the place. */
  #clock(slot: number): SetClock {
    const clock = this.#clocks.get(slot) ?? setClock(join(this.#run.path, `clock-${slot}`));
    this.#clocks.set(slot, clock);
    return clock;
  }

  async #onExit(slot: number, { expected, process }: Member, exit: ExitStatus): Promise<void> {
    this.#members.delete(slot);
    forgetClockOf(process.pid);
    appendFileSync(this.#logFile(slot), `--- ${describeExit(exit)}\n`);
    if (expected === 'stop') {
      if (exit.code !== 0) {
        this.#problems.push(`consumer ${slot} ended with ${describeExit(exit)} after SIGTERM: ${lastWords(process)}`);
      }
      return;
    }
    if (expected === undefined && !this.#run.isClosed) {
      this.#judgeEnd(`consumer ${slot} ended by itself with ${describeExit(exit)}: ${lastWords(process)}`);
      await delay(RESTART_PAUSE_MS);
    }
    if (!this.#run.isClosed) {
      await this.add(slot);
    }
  }

  #judgeEnd(end: string): void {
    if (this.#allowedReason?.test(end)) {
      this.#allowedEnds += 1;
    } else {
      this.#problems.push(end);
    }
  }

  #keepLog(slot: number, { pid, logs }: ConsumerProcess): void {
    appendFileSync(this.#logFile(slot), `--- process ${pid}\n`);
    logs.follow((line) => {
      if (line.length <= LONGEST_KEPT_LINE) {
        appendFileSync(this.#logFile(slot), `${line}\n`);
      }
      for (const [pattern, count] of this.#counts) {
        this.#counts.set(pattern, count + (pattern.test(line) ? 1 : 0));
      }
    });
  }

  #logFile(slot: number): string {
    return join(this.#run.path, `consumer-${slot}.log`);
  }
}

/** Makes long lines of the log. A consumer that does not listen yet, or is killed meanwhile, gets the rest of none. */
async function fillLog({ get, endpoint }: ConsumerProcess): Promise<void> {
  for (let sent = 0; sent < FILLER.requests; sent += FILLER.atOnce) {
    const requests = Array.from({ length: FILLER.atOnce }, () => get(`${endpoint.infoPath}?${FILLER.query}`));
    const answers = await Promise.allSettled(requests);
    await Promise.all(
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.body?.cancel() : undefined)),
    );
  }
}

/** The fatal line of its log, which has the reason of its end; else the last line. */
const lastWords = ({ logs: { all } }: ConsumerProcess): string =>
  all.findLast((line) => line.includes('"level":"fatal"')) ?? all.at(-1) ?? 'it said nothing';
