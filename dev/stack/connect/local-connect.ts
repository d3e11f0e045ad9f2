import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExplainedError } from '../../run/explained-error.ts';
import { LogLines } from '../../run/log-lines.ts';
import type { ExitStatus } from '../../run/owned-process.ts';
import type { RunFolder } from '../../run/run-folder.ts';
import { javaCommand, QUICK_START, readyJars } from '../java-program.ts';
import { type LocalServer, PLACE_IN_TRACE, startOnFreePort, startServer } from '../local-server.ts';
import type { JarSet, Progress } from '../maven-jars.ts';

/** Settings of a worker or a connector, as Connect names them. */
export type ConnectProperties = Readonly<Record<string, string | number | boolean>>;

/** What a connector's task logs when it does not go on: the worker does. */
const TASK_DIED = /Task threw an uncaught and unrecoverable exception|Failed to create connector/;
/** A worker takes half a minute where the machine has other work. */
const START_TIMEOUT_MS = 180_000;
const LAST_WORDS = 5;
const STOP_TIMEOUT_MS = 20_000;
const JVM_OPTIONS = ['-Xmx300m', ...QUICK_START];

/** A connector that a worker runs. */
export interface Connector {
  readonly name: string;
  readonly properties: ConnectProperties;
}

export interface LocalConnectOptions {
  readonly jars: JarSet;
  /** `host:port` */
  readonly broker: string;
  /** At least one; each has one task. */
  readonly connectors: readonly Connector[];
  /** The line that each connector logs once it works. */
  readonly ready: RegExp;
  /** Settings of the worker beside ours, or in their place. @default none */
  readonly worker?: ConnectProperties;
  /** Arguments of the Java machine. @default a quick start with a heap of at most 300 MB */
  readonly jvm?: readonly string[];
  /** Called with the progress of a long step. @default never */
  readonly onProgress?: Progress;
}

/** One worker of Kafka Connect with its connectors. */
export interface LocalConnect {
  /** Process id of the worker that was started last. */
  readonly pid: number;
  /** Settles when that worker is gone. */
  readonly exited: Promise<ExitStatus>;
  /** Aborted when the task of a connector has died: the worker then does nothing more for it. */
  readonly taskDied: AbortSignal;
  /** The lines of the worker's log so far. */
  readonly logs: LogLines;
  /**
   * Ends it; does nothing when it has ended.
   *
   * @param signal SIGTERM ends it in order, SIGKILL is a crash. @default 'SIGTERM'
   */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts another worker in place of one that was stopped: its connectors go on from the stored positions. */
  start(): Promise<void>;
}

/**
 * Starts a standalone worker of Kafka Connect that ends with the run, and waits until all of its connectors work.
 *
 * @throws ExplainedError when its jars cannot be fetched, or a connector does not start: the end of the log is in the
 * message
 */
export async function startLocalConnect(run: RunFolder, options: LocalConnectOptions): Promise<LocalConnect> {
  if (options.connectors.length === 0) {
    throw new ExplainedError('Kafka Connect was given no connector to run: name at least one');
  }
  const jars = await readyJars(run, options.jars, options.onProgress ?? (() => undefined));
  const folder = await mkdtemp(join(run.path, 'connect-'));
  const connectors = await Promise.all(
    options.connectors.map(({ name, properties }) =>
      writeProperties(join(folder, `${name}.properties`), { name, 'tasks.max': 1, ...properties }),
    ),
  );
  const [taskDied, logs] = [new AbortController(), new LogLines()];
  const onLine = (line: string): void => {
    logs.add(line);
    if (TASK_DIED.test(line)) {
      taskDied.abort();
    }
  };
  const start = () =>
    startOnFreePort(undefined, async (port) => {
      const worker = await writeProperties(join(folder, 'worker.properties'), workerProperties(folder, port, options));
      return startWorker(run, { jars, args: [worker, ...connectors], onLine }, options);
    });
  const connect = Object.assign(controlled(await start(), start), { taskDied: taskDied.signal, logs });
  run.beforeClose(() => connect.stop());
  return connect;
}

/** What a worker logged when a task died: the line, and the causes that follow it. */
export function deathOf({ logs }: LocalConnect): readonly string[] {
  const from = logs.all.findIndex((line) => TASK_DIED.test(line));
  const words = from < 0 ? [] : logs.all.slice(from).filter((line) => !PLACE_IN_TRACE.test(line));
  return words.slice(0, LAST_WORDS);
}

interface Worker {
  readonly jars: string;
  readonly args: readonly string[];
  readonly onLine: (line: string) => void;
}

function startWorker(
  run: RunFolder,
  { jars, args, onLine }: Worker,
  { connectors, ready, jvm = JVM_OPTIONS }: LocalConnectOptions,
): Promise<LocalServer> {
  return startServer(run, {
    ...javaCommand({ jars, main: 'org.apache.kafka.connect.cli.ConnectStandalone', args, jvm }),
    name: 'Kafka Connect',
    ready,
    readyLines: connectors.length,
    failed: TASK_DIED,
    startTimeout: START_TIMEOUT_MS,
    onLine,
  });
}

function controlled(started: LocalServer, start: () => Promise<LocalServer>) {
  let server = started;
  return {
    get pid(): number {
      return server.pid;
    },
    get exited(): Promise<ExitStatus> {
      return server.exited;
    },
    stop: async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> => {
      await server.stop(signal, STOP_TIMEOUT_MS);
    },
    start: async (): Promise<void> => {
      server = await start();
    },
  };
}

function workerProperties(folder: string, port: number, { broker, worker }: LocalConnectOptions): ConnectProperties {
  return {
    'bootstrap.servers': broker,
    listeners: `http://127.0.0.1:${port}`,
    'offset.storage.file.filename': join(folder, 'offsets'),
    'offset.flush.interval.ms': 1_000,
    // All of its plugins are on the class path, and have manifests.
    'plugin.discovery': 'service_load',
    'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    ...worker,
  };
}

/** Java takes a backslash in a file of properties for an escape. @returns the file */
async function writeProperties(file: string, properties: ConnectProperties): Promise<string> {
  const lines = Object.entries(properties).map(([key, value]) => `${key}=${String(value).replaceAll('\\', '\\\\')}\n`);
  await writeFile(file, lines.join(''), { mode: 0o600 });
  return file;
}
