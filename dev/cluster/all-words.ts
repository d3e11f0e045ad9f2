/** One consumer with the words of consumer.yaml that go to the API server as they are. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Kubectl } from './kubectl.ts';
import { applied, appliedAgain, withoutDifference } from './manifest-checks.ts';
import { consumerDocument, type Dependencies, SECRET, synthesize } from './tested-consumer.ts';

const NAME = 'all-words';
const LABEL = 'example.com/cost-centre';
const ANNOTATION = 'example.com/owner';

/** The environment that makes a consumer of the template. */
const ENVIRONMENT = 'cluster';

/** What the environment adds to the template. */
export const ALL_WORDS_ENVIRONMENT = { replicas: 0 };

/** What it is about: words that Kubernetes has, too, and those that are on each object. */
export function allWordsTemplate(dependencies: Dependencies) {
  const document = consumerDocument(dependencies, 'info');
  return {
    ...document,
    base: 'template',
    name: NAME,
    namespace: { ...document.namespace, create: false },
    labels: { [LABEL]: '42' },
    annotations: { [ANNOTATION]: 'Payments, room 4' },
    image: { ...document.image, pullPolicy: 'Always' },
    rollout: { minReadySeconds: 5 },
    database: {
      ...document.database,
      migrate: 'job',
      owner: { existingSecret: SECRET },
      job: { annotations: { 'argocd.argoproj.io/sync-options': 'Prune=false' } },
    },
    pods: {
      userFromCluster: true,
      environment: { TZ: 'UTC' },
      env: [
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
        { name: 'TRACE', valueFrom: { secretKeyRef: { name: 'tracing', key: 'token', optional: true } } },
      ],
      dnsConfig: { searches: ['svc.example.com'], options: [{ name: 'ndots', value: '2' }] },
      hostAliases: [{ ip: '192.0.2.1', hostnames: ['kafka'] }],
    },
    patches: [{ operations: [{ op: 'add', path: '/metadata/labels/patched', value: 'all' }] }],
    extraObjects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `${NAME}-more` }, data: { a: 'b' } }],
  };
}

/** The manifests of the environment, as synth makes them of a template. */
async function renderAllWords(run: RunFolder, dependencies: Dependencies): Promise<string> {
  const folder = await mkdtemp(join(run.path, 'all-words-'));
  await mkdir(join(folder, 'environments'));
  await writeFile(join(folder, 'environments', `${ENVIRONMENT}.yaml`), JSON.stringify(ALL_WORDS_ENVIRONMENT));
  const { dist } = await synthesize(folder, allWordsTemplate(dependencies));
  return join(dist, ENVIRONMENT);
}

/**
 * Applies one consumer with all words strictly, a second time without a change, and removes it.
 *
 * @throws ExplainedError with what the API server refuses, changes or lacks
 */
export async function allWordsTaken(run: RunFolder, kubectl: Kubectl, dependencies: Dependencies): Promise<string> {
  const folder = await renderAllWords(run, dependencies);
  const count = await applied(kubectl, folder);
  const bare = (await kubectl.objects(folder)).filter(({ metadata: { labels, annotations } }) => {
    const values = [labels?.[LABEL], annotations?.[ANNOTATION]];
    return values.includes(undefined);
  });
  if (bare.length > 0) {
    const names = bare.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    throw new ExplainedError(`without the common label or annotation: ${names.join(', ')}`);
  }
  await appliedAgain(kubectl, folder);
  await withoutDifference(kubectl, folder);
  await kubectl.text('delete', '--filename', folder, '--wait', '--timeout=180s');
  return `${count}, each with the common label and annotation; unchanged by a second apply; removed`;
}
