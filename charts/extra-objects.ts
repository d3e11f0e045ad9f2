import { ApiObject, JsonPatch } from 'cdk8s';
import type { Construct } from 'constructs';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { namespaceOf } from '../deployment/extra-objects.ts';
import { InvalidConsumerError } from '../deployment/invalid-consumer-error.ts';
import { type Section, sectionOf } from '../settings/schema/document.ts';
import { problemIf } from '../settings/schema/problem.ts';

const pointer = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** The content goes in as operations, as it was written: cdk8s has its own ways with some values. */
function extraObject(scope: Construct, workload: CheckedWorkload, object: Section, index: number): ApiObject {
  const { apiVersion, kind, metadata: _metadata, ...content } = object;
  const { namespace: _namespace, ...metadata } = sectionOf(object, 'metadata');
  const namespace = namespaceOf(object, workload.namespace);
  const made = new ApiObject(scope, `extra-object-${index}`, {
    apiVersion: String(apiVersion),
    kind: String(kind),
    metadata: { ...metadata, ...(namespace !== undefined && { namespace }) },
  });
  // An app's chart may have a namespace, which cdk8s fills in.
  if (namespace === undefined && made.metadata.namespace !== undefined) {
    made.addJsonPatch(JsonPatch.remove('/metadata/namespace'));
  }
  made.addJsonPatch(...Object.entries(content).map(([key, value]) => JsonPatch.add(pointer(key), value)));
  return made;
}

/**
 * The objects that the user adds.
 *
 * @param ours those that they must not overwrite
 * @throws InvalidConsumerError with each that is one of ours
 */
export function extraObjects(scope: Construct, workload: CheckedWorkload, ours: readonly ApiObject[]): ApiObject[] {
  const made = workload.file.extraObjects.map((each, index) => extraObject(scope, workload, each, index));
  const problems = made.flatMap(({ kind, name, metadata }, index) =>
    problemIf(
      ours.some((our) => our.kind === kind && our.name === name && our.metadata.namespace === metadata.namespace),
      {
        path: `extraObjects[${index}]`,
        message: `is ${kind} ${name}, which the manifests have already, and one would overwrite the other`,
        allowed: 'another name; patches change what the manifests have',
      },
    ),
  );
  if (problems.length > 0) {
    throw new InvalidConsumerError(`StreamConsumer ${scope.node.path}`, problems);
  }
  return made;
}
