import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import { freePort } from '../run/free-port.ts';
import type { Command } from '../run/owned-process.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { javaCommand, QUICK_START, readyJars } from './java-program.ts';
import { prepareStorage, randomId } from './kafka-storage.ts';
import { type LocalServer, startOnFreePort, startServer } from './local-server.ts';
import type { JarSet, Progress } from './maven-jars.ts';

/** What a broker runs on, with Java's own producers and tools. */
export const KAFKA_JARS: JarSet = {
  name: 'Kafka',
  pom: join(import.meta.dirname, 'pom.xml'),
  download: '45 MB, about 10 s',
  otherwise: ', or use brokers of your own: --kafka HOST:PORT',
};
const JVM_OPTIONS = ['-Xmx512m', ...QUICK_START];
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;

export interface LocalKafkaOptions {
  /** Port to take when it is free. @default a random one */
  readonly port?: number;
  /** Port that the broker advertises to clients, such as a proxy's. @default the one that the broker listens on */
  readonly advertisedPort?: number;
  /** Another address of this machine's loopback ports, for clients such as containers. @default none */
  readonly elsewhere?: string;
  /** The cluster to join, as its broker 2, which is no controller. @default a new one, as broker 1 */
  readonly joins?: LocalKafka;
  /** Further listeners on 127.0.0.1, by their names. @default none */
  readonly listeners?: Readonly<Record<string, Listener>>;
  /** Settings of `server.properties` beside ours, or in their place. @default none */
  readonly properties?: Readonly<Record<string, string | number | boolean>>;
  /** Arguments of the storage tool, such as `--add-scram`. @default none */
  readonly format?: readonly string[];
  /** Arguments of the broker's Java machine, such as `-Dname=value`. @default none */
  readonly jvm?: readonly string[];
  /** Called with the progress of a long step. @default never */
  readonly onProgress?: Progress;
}

/** A listener beside the plain one. */
export interface Listener {
  readonly protocol: 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';
  readonly port: number;
  /** `host:port` that the broker advertises to clients. @default its port of `localhost` */
  readonly advertised?: string;
}

/** What a broker has to know of the cluster that it joins. */
interface LocalCluster {
  readonly id: string;
  readonly controllerPort: number;
}

/** One real Apache Kafka node with its data. */
export interface LocalKafka {
  readonly cluster: LocalCluster;
  /** `host:port`; stays the same over stop and start. */
  readonly broker: string;
  /** `host:port` for the clients of {@link LocalKafkaOptions.elsewhere}; `undefined` without. */
  readonly brokerElsewhere: string | undefined;
  /** Process id of the running broker, for signals such as SIGSTOP. @throws ExplainedError when it is stopped. */
  readonly pid: number;
  /** Starts it again, on the same port and data; does nothing while it runs. */
  start(): Promise<void>;
  /** Stops it in an orderly way; does nothing when it is stopped. */
  stop(): Promise<void>;
  /** Ends it by SIGKILL, as a crash would. */
  crash(): Promise<void>;
}

/**
 * Starts an Apache Kafka broker that ends with the run.
 *
 * @throws ExplainedError when its jars cannot be fetched or it does not start; the end of its log is in the message.
 */
export async function startLocalKafka(run: RunFolder, options: LocalKafkaOptions = {}): Promise<LocalKafka> {
  const onProgress = options.onProgress ?? (() => undefined);
  const jars = await readyJars(run, KAFKA_JARS, onProgress);
  return startOnFreePort(options.port, (port) => formatAndStart(run, jars, port, options));
}

async function formatAndStart(
  run: RunFolder,
  jars: string,
  port: number,
  { advertisedPort, elsewhere, joins, listeners = {}, properties = {}, format = [], jvm = [] }: LocalKafkaOptions,
): Promise<LocalKafka> {
  const folder = await mkdtemp(join(run.path, 'kafka-'));
  const cluster = joins?.cluster ?? { id: randomId(), controllerPort: await freePort() };
  const layout: BrokerLayout = {
    port,
    ...(advertisedPort === undefined ? {} : { advertisedPort }),
    ...(elsewhere === undefined ? {} : { elsewhere: { host: elsewhere, port: await freePort() } }),
    controllerPort: cluster.controllerPort,
    dataFolder: join(folder, 'data'),
    joins: joins !== undefined,
    listeners,
    properties,
  };
  const file = join(folder, 'server.properties');
  await writeFile(file, serverProperties(layout));
  const { dataFolder } = layout;
  const nodeId = nodeIdOf(layout);
  await prepareStorage(run, jars, { dataFolder, clusterId: cluster.id, nodeId, properties: file, format });
  const start = () => startBroker(run, java(jars, 'kafka.Kafka', [file], jvm));
  const kafka = controlled(layout, cluster, await start(), start);
  run.beforeClose(() => kafka.stop());
  return kafka;
}

const java = (jars: string, main: string, args: readonly string[], jvm: readonly string[] = []): Command =>
  javaCommand({ jars, main, args, jvm: [...JVM_OPTIONS, ...jvm] });

function startBroker(run: RunFolder, command: Command): Promise<LocalServer> {
  return startServer(run, {
    ...command,
    name: 'Kafka',
    ready: /Kafka Server started/,
    startTimeout: START_TIMEOUT_MS,
  });
}

function controlled(
  { port, elsewhere }: BrokerLayout,
  cluster: LocalCluster,
  started: LocalServer,
  start: () => Promise<LocalServer>,
): LocalKafka {
  const broker = `127.0.0.1:${port}`;
  let server: LocalServer | undefined = started;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = server;
    server = undefined;
    await running?.stop(signal, STOP_TIMEOUT_MS);
  };
  return {
    cluster,
    broker,
    brokerElsewhere: elsewhere && `${elsewhere.host}:${elsewhere.port}`,
    get pid() {
      if (server === undefined) {
        throw new ExplainedError(`Kafka at ${broker} is stopped: it has no process id`);
      }
      return server.pid;
    },
    start: async () => {
      server ??= await start();
    },
    stop: () => end('SIGTERM'),
    crash: () => end('SIGKILL'),
  };
}

/** What differs from one local broker to another. */
interface BrokerLayout {
  readonly port: number;
  /** Port that the broker advertises to clients, such as a proxy's. @default {@link port} */
  readonly advertisedPort?: number;
  /** A second listener, advertised under another address of this machine. @default none */
  readonly elsewhere?: { readonly port: number; readonly host: string };
  readonly controllerPort: number;
  readonly dataFolder: string;
  /** Whether it is broker 2 of a cluster, beside the node that is broker and controller. @default false */
  readonly joins?: boolean;
  readonly listeners?: LocalKafkaOptions['listeners'];
  /** Settings beside these, or in their place. @default none */
  readonly properties?: Readonly<Record<string, string | number | boolean>>;
}

const nodeIdOf = ({ joins = false }: Pick<BrokerLayout, 'joins'>): number => (joins ? 2 : 1);

/**
 * `server.properties` of one node that is broker and controller. Nothing is replicated, a group's first rebalance does
 * not wait, and topics are not created automatically, so a misspelt one is an error. A crashed broker may register
 * again after 3 s.
 */
export function serverProperties(layout: BrokerLayout): string {
  const { port, advertisedPort = port, elsewhere, controllerPort, dataFolder, joins = false } = layout;
  const controller = joins ? '' : `,CONTROLLER://127.0.0.1:${controllerPort}`;
  const others = Object.entries(layout.listeners ?? {});
  const listening = others.map(([name, at]) => `,${name}://127.0.0.1:${at.port}`).join('');
  const advertised = others
    .map(([name, { port: at, advertised: told = `localhost:${at}` }]) => `,${name}://${told}`)
    .join('');
  const protocols = others.map(([name, { protocol }]) => `,${name}:${protocol}`).join('');
  const more = elsewhere === undefined ? '' : `,ELSEWHERE://127.0.0.1:${elsewhere.port}`;
  const moreAdvertised = elsewhere === undefined ? '' : `,ELSEWHERE://${elsewhere.host}:${elsewhere.port}`;
  const settings: Record<string, string | number | boolean> = {
    'process.roles': joins ? 'broker' : 'broker,controller',
    'node.id': nodeIdOf(layout),
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': `CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,ELSEWHERE:PLAINTEXT${protocols}`,
    listeners: `PLAINTEXT://127.0.0.1:${port}${more}${listening}${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${advertisedPort}${moreAdvertised}${advertised}`,
    'log.dirs': dataFolder,
    'auto.create.topics.enable': false,
    // Records may be of any time.
    'log.retention.ms': -1,
    // A quarter of the heap by default, which large batches need.
    'log.cleaner.dedupe.buffer.size': 4_194_304,
    // The broker makes each index file of its full size: 10 MiB, the default, take 50 ms on some file systems.
    'log.index.size.max.bytes': 1_048_576,
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    ...layout.properties,
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
