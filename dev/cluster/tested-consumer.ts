import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { managementEndpoint } from '../../contract/actuator.ts';
import { checkConsumerFile } from '../../deployment/check-consumer.ts';
import { type CheckedWorkload, checkedWorkload } from '../../deployment/checked-workload.ts';
import { describeProblems } from '../../settings/schema/problem.ts';
import { findContainerEngine } from '../image/image-build.ts';
import { MAX_VALUE_BYTES } from '../orders/sample-record.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Written } from '../verdict/compare-tables.ts';
import { runCommand } from './kubectl.ts';

/** Topic, group and schema of the rows that the consumers write. */
export const WRITTEN: Written = { topic: 'orders', group: 'cluster-test', schema: 'stream_consumer' };

export const REPLICAS = 2;

/** Secret with the database's credentials. */
export const SECRET = 'orders-consumer-database';

/** What the tested consumer needs of the cluster and of this machine. */
export interface Dependencies {
  readonly namespace: string;
  /** Brokers as Pods see them. */
  readonly broker: string;
  readonly databasePort: number;
  /** Whether the cluster knows the Prometheus Operator's kinds. */
  readonly hasOperator: boolean;
}

/** consumer.yaml of the tested consumer. */
export function consumerDocument(dependencies: Dependencies, logLevel: 'info' | 'debug') {
  return {
    name: 'orders-consumer',
    namespace: { name: dependencies.namespace },
    image: { repository: 'localhost/stream-consumer' },
    replicas: REPLICAS,
    database: { existingSecret: SECRET },
    networkPolicy: { egress: { database: [{ ports: [dependencies.databasePort] }] } },
    monitoring: { customResources: dependencies.hasOperator },
    application: {
      kafka: { brokers: [dependencies.broker], topics: [WRITTEN.topic], groupId: WRITTEN.group },
      database: { schema: WRITTEN.schema },
      consumer: { maxValueBytes: MAX_VALUE_BYTES },
      logging: { level: logLevel },
    },
  };
}

/** The checked content of a consumer.yaml. @throws ExplainedError when it is wrong */
export function consumerWorkload(document: object): CheckedWorkload {
  const checked = checkConsumerFile(document);
  if (!checked.ok) {
    throw new ExplainedError(describeProblems(checked.problems));
  }
  return checkedWorkload(checked.value);
}

export const consumerEndpoint = ({ settings }: CheckedWorkload) => managementEndpoint(settings);

const REPOSITORY = resolve(import.meta.dirname, '..', '..');
const inRepository = (path: string): string => pathToFileURL(join(REPOSITORY, path)).href;

/** What `npm run synth` made of a consumer.yaml. */
interface Synthesized {
  /** Folder that `kubectl apply -f` takes. */
  readonly dist: string;
  /** What synth printed beside the files: its notes. */
  readonly notes: string;
}

/**
 * Renders a consumer.yaml as `npm run synth` does.
 *
 * @param document the content of consumer.yaml
 * @returns the folder that `kubectl apply -f` takes
 * @throws ExplainedError with what synth says when the document is wrong
 */
export const renderManifests = async (run: RunFolder, document: object): Promise<string> =>
  (await synthesize(await mkdtemp(join(run.path, 'manifests-')), document)).dist;

/**
 * Runs `npm run synth` in a folder, which may have a consumer.yaml and a dist/ of before.
 *
 * @throws ExplainedError with what synth says when the document is wrong
 */
export async function synthesize(folder: string, document: object): Promise<Synthesized> {
  // JSON is YAML.
  await writeFile(join(folder, 'consumer.yaml'), JSON.stringify(document));
  await mkdir(join(folder, 'environments'), { recursive: true });
  const imports = ['--import', inRepository('synthesis/preload.mjs'), '--import', import.meta.resolve('tsx')];
  const { code, stderr } = await runCommand(process.execPath, [...imports, join(REPOSITORY, 'main.ts')], {
    cwd: folder,
  });
  if (code !== 0) {
    throw new ExplainedError(`the manifests were not rendered:\n${stderr}`);
  }
  return { dist: join(folder, 'dist'), notes: stderr };
}

/**
 * Makes an image of this machine known to the cluster's nodes.
 *
 * @param command makes it known, given the path of a docker-archive
 * @throws ExplainedError when there is no such image, or a command fails
 */
export async function loadImage(run: RunFolder, reference: string, command: string): Promise<string> {
  const engine = findContainerEngine(process.env['PATH']);
  if (engine === undefined) {
    throw new ExplainedError('neither podman nor docker is installed, and one of them has to give the image');
  }
  const tar = join(run.path, 'image.tar');
  const format = engine === 'podman' ? ['--format', 'docker-archive'] : [];
  const saved = await runCommand(engine, ['save', ...format, '--output', tar, reference]);
  if (saved.code !== 0) {
    throw new ExplainedError(`${engine} could not save ${reference} (npm run image builds it): ${saved.stderr.trim()}`);
  }
  const loaded = await runCommand('sh', ['-c', `${command} "$1"`, 'sh', tar]);
  if (loaded.code !== 0) {
    throw new ExplainedError(`CLUSTER_LOAD_IMAGE ended with ${loaded.code}: ${loaded.stderr.trim()}`);
  }
  return reference;
}
