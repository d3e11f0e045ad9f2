import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { type KubernetesObject, readManifests } from '../../synthesis/manifest.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { anyConsumerFile } from './consumer-file-arbitrary.ts';
import type { Kubectl } from './kubectl.ts';
import { renderManifests } from './tested-consumer.ts';

/** How many random consumers are looked at. */
export const DRY_RUNS = 30;

/** The kinds that the cluster knows: an operator's custom resources are there only where it is. */
async function knownKinds(kubectl: Kubectl): Promise<ReadonlySet<string>> {
  const table = await kubectl.text('api-resources', '--no-headers');
  return new Set(table.split('\n').map((line) => line.trim().split(/\s+/).at(-1) ?? ''));
}

/** The objects of a rendered consumer that the cluster knows. */
function objectsIn(folder: string, kinds: ReadonlySet<string>): readonly KubernetesObject[] {
  return readManifests(folder)
    .map(({ object }) => object)
    .filter(({ kind }) => kinds.has(kind));
}

/** What the API server says of objects that it does not keep, warnings included: of Pod Security, for instance. */
async function complaints(kubectl: Kubectl, items: readonly KubernetesObject[]): Promise<string> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename', '-'];
  const { stderr } = await kubectl.run(args, list);
  return stderr.trim();
}

/**
 * Renders random consumer.yaml, as right as the check lets them be, and has the API server look at all objects without
 * keeping one.
 *
 * @param seed of the random consumers. @default another one each time; a failure names it
 * @throws ExplainedError with what the API server refuses or warns of, by consumer
 */
export async function dryRuns(
  run: RunFolder,
  kubectl: Kubectl,
  namespace: string,
  seed = randomInt(2 ** 31),
): Promise<string> {
  const kinds = await knownKinds(kubectl);
  const seen = new Map<string, number>();
  const refused: string[] = [];
  for (const [index, document] of fc.sample(anyConsumerFile, { numRuns: DRY_RUNS, seed }).entries()) {
    const placed = { ...document, namespace: { name: namespace, create: false } };
    const objects = objectsIn(await renderManifests(run, placed), kinds);
    const said = await complaints(kubectl, objects);
    refused.push(...(said === '' ? [] : [`consumer ${index}: ${said}`]));
    for (const { kind } of objects) {
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
  }
  if (refused.length > 0) {
    throw new ExplainedError(`${refused.length} of ${DRY_RUNS} with the seed ${seed}:\n${refused.join('\n')}`);
  }
  const counts = [...seen].map(([kind, count]) => `${count} ${kind}`);
  return `seed ${seed}: ${counts.join(', ')}`;
}
