import { symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadSettings } from '../../app/configuration/load-settings.ts';
import { type ManagementEndpoint, managementEndpoint } from '../../contract/actuator.ts';
import { describeProblems } from '../../settings/schema/problem.ts';
import { bundleConsumer } from '../image/layer/bundle-consumer.ts';
import { ExplainedError } from './explained-error.ts';
import { LogLines } from './log-lines.ts';
import { describeExit, type ExitStatus } from './owned-process.ts';
import type { RunFolder } from './run-folder.ts';

const REPOSITORY = resolve(import.meta.dirname, '..', '..');
const BUNDLE = join(REPOSITORY, 'build', 'bundle');
/** Where the programs lie in the folder of a bundle. */
const PROGRAMS = join('build', 'app');
/** Folder of what {@link compileConsumer} made: `main.js` and `health-check.js`. */
export const COMPILED_PROGRAMS = join(BUNDLE, PROGRAMS);
/** What a bundle elsewhere finds only in the checkout: the package that is not bundled, and the version. */
const BESIDE_BUNDLE = ['node_modules', 'package.json'] as const;
const PROGRAM = {
  source: ['--import', 'tsx', join(REPOSITORY, 'app', 'main.ts')],
  compiled: [join(COMPILED_PROGRAMS, 'main.js')],
} as const;
const POLL_MS = 100;
const TAIL_LINES = 15;
const HEALTH_TIMEOUT_MS = 60_000;

/**
 * Bundles the consumer and its health check as the image's build does, from the current folder: bundled, each start
 * takes a fifth of the CPU time.
 *
 * @param folder @default the folder of what starts as 'compiled'
 * @throws ExplainedError with the bundler's messages when it refuses.
 */
export async function compileConsumer(folder: string = BUNDLE): Promise<void> {
  await bundleConsumer(folder).catch((error: Error) => {
    throw new ExplainedError(`The consumer does not compile:\n${error.message}`);
  });
}

const bundlesOfRuns = new WeakMap<RunFolder, Promise<string>>();

/**
 * The bundled consumer of a run, made once, in its folder: runs beside each other may be of different sources.
 *
 * @throws ExplainedError when the bundler refuses or the run is being closed.
 */
async function bundleOf(run: RunFolder): Promise<string> {
  const known = bundlesOfRuns.get(run);
  if (known !== undefined) {
    return known;
  }
  if (run.isClosed) {
    throw new ExplainedError('The consumer was not bundled: the run is being ended');
  }
  const made = makeBundle(join(run.path, 'consumer'));
  bundlesOfRuns.set(run, made);
  // What is written once the folder was removed would stay.
  run.beforeClose(async () => void (await made.catch(() => undefined)));
  return made;
}

async function makeBundle(folder: string): Promise<string> {
  await compileConsumer(folder);
  await Promise.all(BESIDE_BUNDLE.map((name) => symlink(join(REPOSITORY, name), join(folder, name))));
  return join(folder, PROGRAMS, 'main.js');
}

interface ConsumerProcessOptions {
  /** The consumer's `application.yml`. */
  readonly configFile: string;
  /** Settings by their environment names; they win over the file. `SERVER_PORT` is set from {@link port}. */
  readonly env: Readonly<Record<string, string>>;
  /** Port of the HTTP interface. @default a free one, which is known once the consumer listens or has ended */
  readonly port?: number;
  /**
   * Program to run: the source, or what {@link compileConsumer} made of it. @default a bundle that is made for the run
   */
  readonly program?: keyof typeof PROGRAM;
  /**
   * Shell commands that end with `exec "$@"`, which becomes the consumer: for limits and redirections. @default none
   */
  readonly shell?: string;
}

/** A consumer that runs as a separate process. */
export interface ConsumerProcess {
  readonly pid: number;
  readonly port: number;
  readonly endpoint: ManagementEndpoint;
  /** The lines that it has written so far. */
  readonly logs: LogLines;
  /** Settles when the process is gone. */
  readonly exited: Promise<ExitStatus>;
  kill(signal: NodeJS.Signals): void;
  /** Whether its output is read; while it is not, the consumer meets a full pipe. */
  readOutput(isRead: boolean): void;
  /** GET of a path of its HTTP interface. */
  get(path: string): Promise<Response>;
  /**
   * Waits until the health endpoint answers with the status, 200 unless another one is wanted.
   *
   * @throws ExplainedError with the end of the log when the process ends before that or the time is over (60 s unless
   * another time, in milliseconds, is given).
   */
  waitForHealth(status?: number, timeout?: number): Promise<void>;
}

/**
 * Starts the consumer as another process that ends with the run at the latest.
 *
 * Of the environment of this process it gets the path alone: a setting in the rest would win over the file.
 *
 * @throws ExplainedError when the settings are wrong.
 */
export async function startConsumerProcess(run: RunFolder, options: ConsumerProcessOptions): Promise<ConsumerProcess> {
  const logs = new LogLines();
  const env = { CONFIG_FILE: options.configFile, ...options.env, SERVER_PORT: String(options.port ?? 0) };
  const configured = endpointOf(options.configFile, env);
  const owned = await run.spawn({
    ...(await commandOf(run, options)),
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'], ...env },
    onLine: (line) => logs.add(line),
  });
  const port = configured.port === 0 ? await portInUse(logs, owned.exited) : configured.port;
  const endpoint = { ...configured, port };
  const get = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(10_000) });
  const health = () => get(endpoint.healthPath);
  return {
    ...owned,
    port,
    endpoint,
    logs,
    get,
    waitForHealth: (status = 200, timeout = HEALTH_TIMEOUT_MS) =>
      waitForStatus(health, { status, timeout }, owned.exited, logs),
  };
}

async function commandOf(
  run: RunFolder,
  { program: chosen, shell }: Pick<ConsumerProcessOptions, 'program' | 'shell'>,
) {
  const command = [process.execPath, ...(chosen === undefined ? [await bundleOf(run)] : PROGRAM[chosen])];
  const [program = '', ...args] = shell === undefined ? command : ['bash', '-c', shell, 'bash', ...command];
  return { program, args };
}

/** Runs a command of the consumer's program to its end, with the settings that a consumer would have. */
export async function runConsumerCommand(
  run: RunFolder,
  { configFile, env }: Pick<ConsumerProcessOptions, 'configFile' | 'env'>,
  args: readonly string[],
) {
  return run.complete({
    program: process.execPath,
    args: [await bundleOf(run), ...args],
    cwd: REPOSITORY,
    env: { PATH: process.env['PATH'], CONFIG_FILE: configFile, ...env },
  });
}

function endpointOf(configFile: string, env: Readonly<Record<string, string>>): ManagementEndpoint {
  const settings = loadSettings({ configFile, env, cwd: REPOSITORY });
  if (!settings.ok) {
    throw new ExplainedError(describeProblems(settings.problems));
  }
  return managementEndpoint(settings.value);
}

/** The port that the consumer says it listens on; 0 when it ended before. */
async function portInUse(logs: LogLines, exited: Promise<unknown>): Promise<number> {
  const line = await Promise.race([logs.waitFor(/"msg":"listening"/, HEALTH_TIMEOUT_MS), exited.then(() => '')]);
  return Number(/"port":(\d+)/.exec(line)?.[1] ?? 0);
}

async function waitForStatus(
  health: () => Promise<Response>,
  wanted: { readonly status: number; readonly timeout: number },
  exited: Promise<ExitStatus>,
  logs: LogLines,
): Promise<void> {
  const deadline = Date.now() + wanted.timeout;
  let exit: ExitStatus | undefined;
  let last = 'no answer';
  void exited.then((status) => {
    exit = status;
  });
  while (exit === undefined && Date.now() < deadline) {
    const answer = await health().catch(() => undefined);
    if (answer?.status === wanted.status) {
      await answer.body?.cancel();
      return;
    }
    last = answer === undefined ? 'no answer' : `${answer.status} ${await answer.text()}`;
    await Promise.race([delay(POLL_MS), exited]);
  }
  const what = exit === undefined ? `said for ${wanted.timeout / 1_000} s: ${last}` : `ended: ${describeExit(exit)}`;
  const tail = logs.all.slice(-TAIL_LINES).map((line) => `    ${line}`);
  throw new ExplainedError(
    [`The consumer's health did not become ${wanted.status}: it ${what}. The end of its log:`, ...tail].join('\n'),
  );
}
