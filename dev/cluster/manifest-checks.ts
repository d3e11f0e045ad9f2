import { setTimeout as delay } from 'node:timers/promises';
import { ExplainedError } from '../run/explained-error.ts';
import type { ClusterObject, Kubectl } from './kubectl.ts';

const POLL_MS = 500;
/** After so many equal answers no controller writes to the objects any more. */
const QUIET_ANSWERS = 4;
const SETTLE_LIMIT_MS = 60_000;

/** The state of each object, as a text to compare, by `kind/name`. */
type Versions = ReadonlyMap<string, string>;

const nameOf = ({ kind, metadata }: ClusterObject): string => `${kind}/${metadata.name}`;

async function versions(kubectl: Kubectl, folder: string): Promise<Versions> {
  const objects = await kubectl.objects(folder);
  return new Map(objects.map((object) => [nameOf(object), object.metadata.resourceVersion]));
}

/** The objects as a manifest has them: without status, and without the metadata that the API server adds. */
async function contents(kubectl: Kubectl, folder: string): Promise<Versions> {
  const objects = await kubectl.objects(folder);
  return new Map(
    objects.map((object) => {
      const { status: _status, metadata, ...rest } = object;
      return [nameOf(object), JSON.stringify([rest, metadata.labels])];
    }),
  );
}

const differing = (before: Versions, after: Versions): string[] =>
  [...after].filter(([name, version]) => before.get(name) !== version).map(([name]) => name);

/** Waits until no controller of the cluster changes the objects any more. */
async function settled(kubectl: Kubectl, folder: string): Promise<Versions> {
  const deadline = Date.now() + SETTLE_LIMIT_MS;
  let last = await versions(kubectl, folder);
  for (let quiet = 1; quiet < QUIET_ANSWERS && Date.now() < deadline; ) {
    await delay(POLL_MS);
    const next = await versions(kubectl, folder);
    quiet = differing(last, next).length === 0 ? quiet + 1 : 1;
    last = next;
  }
  return last;
}

/** Applies a folder as its users do, server-side and strictly. @returns how many objects it holds */
export async function applied(kubectl: Kubectl, folder: string): Promise<string> {
  const output = await kubectl.text('apply', '--server-side', '--validate=strict', '--filename', folder);
  const objects = await kubectl.objects(folder);
  const lines = output.trim().split('\n');
  if (lines.length !== objects.length) {
    throw new ExplainedError(`${objects.length} objects, but kubectl said:\n${output}`);
  }
  return `${objects.length} objects`;
}

/** Applies a folder a second time, which has to change nothing. */
export async function appliedAgain(kubectl: Kubectl, folder: string): Promise<string> {
  const before = await settled(kubectl, folder);
  await applied(kubectl, folder);
  const changed = differing(before, await settled(kubectl, folder));
  if (changed.length > 0) {
    throw new ExplainedError(`other resourceVersions: ${changed.join(', ')}`);
  }
  return `${before.size} of ${before.size} resourceVersions as before`;
}

/** @throws ExplainedError with the difference when there is one */
export async function withoutDifference(kubectl: Kubectl, folder: string): Promise<string> {
  const { code, stdout, stderr } = await kubectl.run(['diff', '--server-side', '--filename', folder]);
  if (code !== 0 || stdout !== '') {
    throw new ExplainedError(`kubectl diff ended with ${code}:\n${stdout}${stderr}`);
  }
  return 'empty';
}

/**
 * Applies a folder in which only application.yml differs from that of `before`: that has to make a new ConfigMap and
 * change the Deployment, and nothing else.
 */
export async function changeApplied(kubectl: Kubectl, before: string, after: string): Promise<string> {
  const old = await contents(kubectl, before);
  await applied(kubectl, after);
  const changed = differing(old, await contents(kubectl, after)).map((name) => name.replace(/-[0-9a-f]+$/, ''));
  const expected = ['ConfigMap/orders-consumer-config', 'Deployment/orders-consumer'];
  if (changed.toSorted().join() !== expected.join()) {
    throw new ExplainedError(`changed: ${changed.join(', ')}; expected: ${expected.join(', ')}`);
  }
  return 'a new ConfigMap and the Deployment, nothing else';
}

/** What leaves the Namespace, and with it the Secret, where they are. */
const WITHOUT_NAMESPACE = ['--selector', '!pod-security.kubernetes.io/enforce'];

/**
 * Deletes the objects of the folders as docs/deploy.md says: all of them go but for the Namespace, and the Secret stays
 * in it.
 */
export async function deleted(kubectl: Kubectl, folders: readonly string[], secret: string): Promise<string> {
  const files = folders.flatMap((folder) => ['--filename', folder]);
  const isThere = ['--ignore-not-found', '--output', 'name'];
  await kubectl.text('delete', ...files, ...WITHOUT_NAMESPACE, '--ignore-not-found', '--wait', '--timeout=180s');
  const left = (await kubectl.text('get', ...files, ...isThere)).trim().split('\n');
  if (left.some((name) => !name.startsWith('namespace/'))) {
    throw new ExplainedError(`still there: ${left.join(', ')}`);
  }
  const kept = await kubectl.text('get', 'secret', secret, ...isThere);
  if (kept.trim() === '' || left.join() === '') {
    throw new ExplainedError('the Namespace or the Secret is gone');
  }
  return 'the Namespace and the Secret are left, nothing else';
}
