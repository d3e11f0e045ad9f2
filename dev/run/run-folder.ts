import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ExplainedError } from './explained-error.ts';
import { type Command, type ExitStatus, type OwnedProcess, spawnOwned } from './owned-process.ts';
import {
  killAll,
  PROCESSES_FOLDER,
  processIdentity,
  RUN_FOLDER_PREFIX,
  recordedProcesses,
} from './recorded-processes.ts';

/** Holds the identity of the owning process, since the system may give its id to another one. */
export const OWNER_FILE = 'owner';
const KILL_TIMEOUT_MS = 5_000;
const KILL_INTERVAL_MS = 50;

/** Where run folders are made: root's own temporary folder may be closed to the user that PostgreSQL runs as. */
export function runFolderParent(): string {
  return process.getuid?.() === 0 ? '/tmp' : tmpdir();
}

/**
 * A temporary folder and the processes that end with it. Closing the run stops the processes and removes the folder;
 * where the owner died without that, {@link removeLeftoverRuns} of the next run does both.
 */
export class RunFolder {
  readonly path: string;
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #processes = new Set<OwnedProcess>();
  #closing: Promise<void> | undefined;
  readonly #abandon = (): void => this.abandon();

  private constructor(path: string) {
    this.path = path;
    process.on('exit', this.#abandon);
  }

  /** Makes the folder. Only its owner may list it; other users may pass through it to the files that are theirs. */
  static async create(parent: string = runFolderParent()): Promise<RunFolder> {
    const path = await mkdtemp(join(parent, `${RUN_FOLDER_PREFIX}${process.pid}-`));
    const run = new RunFolder(path);
    await chmod(path, 0o711);
    await writeFile(join(path, OWNER_FILE), processIdentity(process.pid) ?? '');
    mkdirSync(join(path, PROCESSES_FOLDER), { mode: 0o700 });
    return run;
  }

  /** Whether {@link close} or {@link abandon} was called: nothing can be started any more. */
  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /**
   * Starts a program that ends with this run at the latest.
   *
   * @throws ExplainedError when the program cannot be started or the run is being closed.
   */
  async spawn(command: Command): Promise<OwnedProcess> {
    if (this.isClosed) {
      throw new ExplainedError(`${command.program} was not started: the run is being ended`);
    }
    return spawnOwned(command, (owned) => {
      const record = join(this.path, PROCESSES_FOLDER, String(owned.pid));
      writeFileSync(record, processIdentity(owned.pid) ?? '');
      this.#processes.add(owned);
      void owned.exited.then(() => {
        this.#processes.delete(owned);
        rmSync(record, { force: true });
      });
    });
  }

  /** Starts a program and waits for its end, with the lines it wrote. */
  async complete(command: Command): Promise<ExitStatus & { readonly output: readonly string[] }> {
    const output: string[] = [];
    const owned = await this.spawn({
      ...command,
      onLine: (line) => {
        output.push(line);
        command.onLine?.(line);
      },
    });
    return { ...(await owned.exited), output };
  }

  /**
   * Registers what {@link close} has to do before it kills what is left; the last one registered is the first to run.
   */
  beforeClose(stop: () => Promise<void>): void {
    this.#stops.push(stop);
  }

  /**
   * Stops everything in the reverse order of its start and removes the folder; may be called several times.
   *
   * @throws what the first stop that failed has thrown, when all else is done
   */
  close(): Promise<void> {
    this.#closing ??= this.#closeOnce();
    return this.#closing;
  }

  /** Kills every process and removes the folder without waiting: for a second Ctrl-C, or when Node exits. */
  abandon(): void {
    this.#closing ??= Promise.resolve();
    process.off('exit', this.#abandon);
    killAll(recordedProcesses(this.path));
    try {
      rmSync(this.path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
    } catch {
      // A process that is being killed still writes there: the next run removes the rest.
    }
  }

  async #closeOnce(): Promise<void> {
    const failures: unknown[] = [];
    for (const stop of this.#stops.reverse()) {
      await stop().catch((error: unknown) => failures.push(error));
    }
    const left = [...this.#processes];
    killAll(recordedProcesses(this.path));
    await Promise.all(left.map((owned) => owned.exited));
    process.off('exit', this.#abandon);
    await rm(this.path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    if (failures.length > 0) {
      throw failures[0];
    }
  }
}

/**
 * Cleans up after runs that died before they were closed: kills their processes, removes their folders.
 *
 * @returns the folders that were removed.
 */
export async function removeLeftoverRuns(parent: string = runFolderParent()): Promise<readonly string[]> {
  const leftover = readdirSync(parent)
    .filter((name) => name.startsWith(RUN_FOLDER_PREFIX))
    .map((name) => join(parent, name))
    .filter((folder) => isOurs(folder) && !hasLivingOwner(folder));
  for (const folder of leftover) {
    await killProcesses(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
  return leftover;
}

/** Any user may make folders in the temporary folder: those of other users are left alone. */
function isOurs(folder: string): boolean {
  const uid = statSync(folder, { throwIfNoEntry: false })?.uid;
  return uid !== undefined && (process.getuid === undefined || uid === process.getuid());
}

function hasLivingOwner(folder: string): boolean {
  const pid = Number(/-run-(\d+)-[^/]*$/.exec(folder)?.[1]);
  const identity = processIdentity(pid);
  const recorded = recordedOwner(folder);
  // A run that has just made its folder has not written the identity yet: then the process id has to do.
  return identity !== undefined && (recorded === '' || recorded === identity);
}

function recordedOwner(folder: string): string {
  try {
    return readFileSync(join(folder, OWNER_FILE), 'utf8');
  } catch {
    return '';
  }
}

async function killProcesses(folder: string): Promise<void> {
  const deadline = Date.now() + KILL_TIMEOUT_MS;
  let left = recordedProcesses(folder);
  while (left.length > 0 && Date.now() < deadline) {
    killAll(left);
    await delay(KILL_INTERVAL_MS);
    left = recordedProcesses(folder);
  }
}
