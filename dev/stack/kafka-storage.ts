import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { cached } from './cache-folder.ts';
import { javaCommand, QUICK_START } from './java-program.ts';

/** The features of a new cluster, in a file that Kafka's tool alone can write. */
const FEATURES = 'bootstrap.checkpoint';

/** A node's data folder that is to be. */
interface Storage {
  readonly dataFolder: string;
  readonly clusterId: string;
  readonly nodeId: number;
  /** The node's `server.properties`. */
  readonly properties: string;
  /** Further arguments of the storage tool, such as `--add-scram`. */
  readonly format: readonly string[];
}

/**
 * Makes a node's data folder as `kafka-storage format` does. The tool itself, a second of processor time, is run where
 * it gets further arguments, and once to learn the features of a new cluster.
 *
 * @param jars folder of Kafka's jars
 * @throws ExplainedError with the tool's last lines when it fails
 */
export async function prepareStorage(run: RunFolder, jars: string, storage: Storage): Promise<void> {
  const { dataFolder, clusterId, nodeId, properties, format } = storage;
  if (format.length > 0) {
    await runTool(run, jars, ['--cluster-id', clusterId, '--config', properties, ...format]);
    return;
  }
  const features = await featuresFile(run, jars);
  await mkdir(dataFolder);
  await copyFile(features, join(dataFolder, FEATURES));
  const meta = { version: 1, 'cluster.id': clusterId, 'node.id': nodeId, 'directory.id': randomId() };
  const lines = Object.entries(meta).map(([key, value]) => `${key}=${value}\n`);
  await writeFile(join(dataFolder, 'meta.properties'), lines.join(''));
}

/** 16 bytes in Kafka's base64. The first bit is off: an id that begins with a dash would be taken for an option. */
export function randomId(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  return bytes.toString('base64url');
}

async function featuresFile(run: RunFolder, jars: string): Promise<string> {
  const isComplete = async (folder: string): Promise<boolean> =>
    ((await stat(join(folder, FEATURES)).catch(() => undefined))?.size ?? 0) > 0;
  const fill = async (folder: string): Promise<void> => {
    const properties = join(folder, 'server.properties');
    await writeFile(
      properties,
      `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:1
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:1
log.dirs=${folder}
`,
    );
    await runTool(run, jars, ['--cluster-id', randomId(), '--config', properties]);
  };
  return join(await cached({ name: `${basename(jars)}-features`, isComplete, fill }), FEATURES);
}

async function runTool(run: RunFolder, jars: string, args: readonly string[]): Promise<void> {
  const tool = { jars, main: 'kafka.tools.StorageTool', args: ['format', ...args], jvm: QUICK_START };
  const { code, output } = await run.complete(javaCommand(tool));
  if (code !== 0) {
    throw new ExplainedError(
      [
        'Kafka could not prepare its data folder. What it said:',
        ...output.slice(-10).map((line) => `    ${line}`),
      ].join('\n'),
    );
  }
}
