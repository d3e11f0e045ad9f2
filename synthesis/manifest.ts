import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { yamlReason } from '../settings/schema/yaml-document.ts';

/** Content of a Kubernetes object as a manifest has it. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** An object, and the file that contains it. */
export interface Manifest {
  /** Name of the file in the folder that was read. */
  readonly file: string;
  readonly object: KubernetesObject;
}

function isObject(value: unknown): value is KubernetesObject {
  const { kind, metadata } = (value ?? {}) as Partial<KubernetesObject>;
  return typeof kind === 'string' && typeof metadata?.name === 'string';
}

function objectsOf(folder: string, file: string): Manifest[] {
  const documents = parseAllDocuments(readFileSync(join(folder, file), 'utf8'));
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error !== undefined) {
    throw new Error(`${join(folder, file)} is not YAML: ${yamlReason(error.code)}`);
  }
  return documents
    .map((document): unknown => document.toJS())
    .flatMap((each) => (isObject(each) ? [{ file, object: each }] : []));
}

/**
 * The objects that `kubectl apply --server-side -f folder` would take: it does not descend into folders.
 *
 * @returns all of them in the order of the files' names; none when there is no such folder
 * @throws Error when a file is not YAML
 */
export function readManifests(folder: string): Manifest[] {
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.yaml'))
        .sort()
        .flatMap((name) => objectsOf(folder, name))
    : [];
}

/** What distinguishes an object of a cluster from all others, for a person: `Service orders/consumer`. */
export function objectTitle({ kind, metadata: { name, namespace } }: KubernetesObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
