import { appendFileSync, writeFileSync } from 'node:fs';
import { type ConsumerProcess, startConsumerProcess } from '../run/consumer-process.ts';
import { ExplainedError } from '../run/explained-error.ts';
import { describeExit, terminate } from '../run/owned-process.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';

/** Above the consumer's own `shutdown.timeout`, so that it is never killed while it drains. */
const DRAIN_TIMEOUT_MS = 30_000;
/** Warnings are no news here: poison is produced on purpose. */
const SHOWN_LEVELS = ['error', 'fatal'];

/** What each process of the consumer is started with. */
interface ConsumerPlace {
  readonly run: RunFolder;
  readonly screen: Screen;
  readonly configFile: string;
  /** Settings by their environment names. */
  readonly env: Readonly<Record<string, string>>;
  /** Gets each line that it logs. */
  readonly logFile: string;
  /** Whether the screen shows each of these lines. */
  readonly verbose: boolean;
}

/** How one process took over from another one. */
interface TakeOver {
  readonly before: ConsumerProcess;
  readonly after: ConsumerProcess;
  /** Milliseconds from the start of the new process until its health was UP. */
  readonly upMs: number;
  /** Milliseconds from SIGTERM until the process before was gone. */
  readonly goneMs: number;
}

/** The consumer of a run: a separate process, from which another one can take over. */
export class LocalConsumer {
  readonly #place: ConsumerPlace;
  readonly #ended = new AbortController();
  #current: ConsumerProcess;

  private constructor(place: ConsumerPlace, first: ConsumerProcess) {
    this.#place = place;
    this.#current = first;
    this.#watch(first);
  }

  /**
   * Starts the first process and waits until its health is UP.
   *
   * @throws ExplainedError with the end of its log when its health does not become UP
   */
  static async start(place: ConsumerPlace, port: number): Promise<LocalConsumer> {
    writeFileSync(place.logFile, '', { mode: 0o600 });
    const first = await startProcess(place, port);
    await first.waitForHealth();
    return new LocalConsumer(place, first);
  }

  /** The process that is shown. */
  get current(): ConsumerProcess {
    return this.#current;
  }

  /** Aborted when it has ended, by itself or with the run. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Starts another process beside the current one and ends the current one once the other's health is UP, as a rolling
   * update does.
   *
   * @param port of the new one
   * @throws ExplainedError when the new one's health does not become UP: the current one stays; or when the one before
   * did not end in order
   */
  async replace(port: number): Promise<TakeOver> {
    const [before, startedAt] = [this.#current, performance.now()];
    const after = await startProcess(this.#place, port);
    try {
      await after.waitForHealth();
    } catch (error) {
      await terminate(after, 'SIGTERM', DRAIN_TIMEOUT_MS);
      throw error;
    }
    const upMs = performance.now() - startedAt;
    this.#current = after;
    this.#watch(after);
    const exit = await terminate(before, 'SIGTERM', DRAIN_TIMEOUT_MS);
    if (exit.code !== 0) {
      throw new ExplainedError(`process ${before.pid} ended with ${describeExit(exit)} after SIGTERM`);
    }
    return { before, after, upMs, goneMs: performance.now() - startedAt - upMs };
  }

  #watch(consumer: ConsumerProcess): void {
    void consumer.exited.then((exit) => {
      if (consumer !== this.#current) {
        return;
      }
      this.#ended.abort();
      if (!this.#place.run.isClosed) {
        this.#place.screen.line(`consumer    ended by itself: ${describeExit(exit)}`);
      }
    });
  }
}

async function startProcess(place: ConsumerPlace, port: number): Promise<ConsumerProcess> {
  const { run, screen, configFile, env, logFile, verbose } = place;
  const consumer = await startConsumerProcess(run, { configFile, port, env });
  run.beforeClose(async () => {
    await terminate(consumer, 'SIGTERM', DRAIN_TIMEOUT_MS);
  });
  consumer.logs.follow((line) => {
    appendFileSync(logFile, `${line}\n`);
    if (verbose || isShown(line)) {
      screen.line(`consumer    ${line}`);
    }
  });
  return consumer;
}

/** A line that is no JSON did not come from the logger, such as a crash of Node: that is shown, too. */
function isShown(line: string): boolean {
  try {
    const { level } = JSON.parse(line) as { level?: unknown };
    return SHOWN_LEVELS.includes(String(level));
  } catch {
    return true;
  }
}
