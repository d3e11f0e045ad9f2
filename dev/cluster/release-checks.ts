/** What docs/upgrading.md has of the way there and back: a release before, this one, and the one before again. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { PRODUCT_VERSION } from '../../contract/product-version.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Kubectl } from './kubectl.ts';
import { applied, withoutDifference } from './manifest-checks.ts';
import { type Dependencies, renderManifests } from './tested-consumer.ts';

/** What a user had committed with each release. */
const RELEASES = resolve(import.meta.dirname, '..', '..', 'test', 'upgrade');

/** The kinds of the Prometheus Operator, where the cluster has it. */
const OPERATOR_FILE = 'monitoring.k8s.yaml';

/** Manifests of a release before and of this one, of one consumer.yaml. */
export interface ReleaseManifests {
  readonly version: string;
  readonly before: string;
  readonly now: string;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** The releases whose manifests are kept. @throws ExplainedError when none is */
export function keptReleases(): readonly string[] {
  const releases = existsSync(RELEASES) ? readdirSync(RELEASES).filter((name) => /^\d+\.\d+\.\d+$/.test(name)) : [];
  if (releases.length === 0) {
    throw new ExplainedError(`${RELEASES} has no release`);
  }
  return releases;
}

const inNamespace = (manifest: Manifest, namespace: string): Manifest => ({
  ...manifest,
  metadata:
    manifest.kind === 'Namespace' ? { ...manifest.metadata, name: namespace } : { ...manifest.metadata, namespace },
});

/**
 * The manifests that a release rendered and that its user had committed, and those of today of the same consumer.yaml,
 * both in the namespace of the test.
 *
 * @throws ExplainedError when today's synth refuses that consumer.yaml
 */
export async function releaseManifests(
  run: RunFolder,
  version: string,
  { namespace, hasOperator }: Pick<Dependencies, 'namespace' | 'hasOperator'>,
): Promise<ReleaseManifests> {
  const folder = join(RELEASES, version);
  const before = await mkdtemp(join(run.path, 'before-'));
  const names = readdirSync(join(folder, 'dist')).filter((name) => name.endsWith('.k8s.yaml'));
  for (const name of names.filter((each) => hasOperator || each !== OPERATOR_FILE)) {
    const documents = parseAllDocuments(readFileSync(join(folder, 'dist', name), 'utf8'));
    const manifests = documents.map((document) => inNamespace(document.toJS() as Manifest, namespace));
    await writeFile(join(before, name), manifests.map((manifest) => stringify(manifest)).join('---\n'));
  }
  const document = parse(readFileSync(join(folder, 'consumer.yaml'), 'utf8')) as {
    readonly namespace: object;
    readonly monitoring: object;
  };
  const now = await renderManifests(run, {
    ...document,
    namespace: { ...document.namespace, name: namespace },
    monitoring: { ...document.monitoring, customResources: hasOperator },
  });
  return { version, before, now };
}

/**
 * Applies a release before, this one, and the one before again, as a user goes there and back. After each of them the
 * cluster has what its manifests have.
 *
 * @throws ExplainedError with what the API server refuses, or with what differs
 */
export async function thereAndBack(kubectl: Kubectl, { version, before, now }: ReleaseManifests): Promise<string> {
  for (const folder of [before, now, before]) {
    await applied(kubectl, folder);
    await withoutDifference(kubectl, folder);
  }
  return `${version}, ${PRODUCT_VERSION} and ${version} again: no difference after each`;
}
