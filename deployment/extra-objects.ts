import { Type } from 'typebox';
import type { Rule } from '../settings/schema/check.ts';
import { isSection, type Section, sectionOf, valueAt } from '../settings/schema/document.ts';
import { type Problem, problemIf } from '../settings/schema/problem.ts';
import { ALLOWED } from '../settings/schema/schema.ts';

const ANY_OBJECT = 'an object of Kubernetes: a map with apiVersion, kind and metadata.name';

/** Objects of the user, which go where ours go. */
export const extraObjects = Type.Array(
  Type.Record(Type.String({ pattern: '^.+$' }), Type.Unknown(), { [ALLOWED]: ANY_OBJECT }),
  {
    default: [],
    [ALLOWED]: `a list, each item ${ANY_OBJECT}`,
    description:
      'More objects, as Kubernetes takes them. One without metadata.namespace gets that of the consumer, unless its kind is known to have none; an empty text leaves it out. Only the API server checks the rest.',
  },
);

interface ExtraObjectsPart {
  readonly extraObjects: readonly Section[];
}

/** What each of them has, and what it looks like. */
const IDENTITY: readonly (readonly [path: readonly string[], form: RegExp, allowed: string])[] = [
  [['apiVersion'], /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?v\d+((alpha|beta)\d+)?$/, 'a version such as v1 or batch/v1'],
  [['kind'], /^[A-Z][A-Za-z0-9]{1,62}$/, 'a kind such as ConfigMap'],
  [['metadata', 'name'], /^[a-z0-9]([-a-z0-9.:]{0,251}[a-z0-9])?$/, 'the name of a Kubernetes object'],
  [['metadata', 'namespace'], /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$/, 'the name of a namespace, or an empty text'],
];

function identityProblems(object: Section, at: string): Problem[] {
  return IDENTITY.flatMap(([path, form, allowed]) => {
    const value = valueAt(object, path);
    const isOptional = path.includes('namespace') && value === undefined;
    return problemIf(!isOptional && !(typeof value === 'string' && form.test(value)), {
      path: `${at}.${path.join('.')}`,
      message: value === undefined ? 'is missing' : 'is not well-formed',
      given: value,
      allowed,
    });
  });
}

const identityIsThere: Rule<ExtraObjectsPart> = {
  reads: ['extraObjects[]'],
  find: ({ extraObjects }) => extraObjects.flatMap((each, index) => identityProblems(each, `extraObjects[${index}]`)),
};

const noSecrets: Rule<ExtraObjectsPart> = {
  reads: ['extraObjects[]'],
  find: ({ extraObjects }) =>
    extraObjects.flatMap(({ kind }, index) =>
      problemIf(kind === 'Secret', {
        path: `extraObjects[${index}].kind`,
        message: 'is a secret, and a manifest is no place for one',
        given: kind,
        allowed: 'an ExternalSecret or a SealedSecret, from which an operator makes the Secret',
      }),
    ),
};

const titleOf = (object: Section): string => {
  const { name, namespace = '' } = sectionOf(object, 'metadata');
  return `${object['kind']} ${namespace} ${name}`;
};

const objectsDiffer: Rule<ExtraObjectsPart> = {
  reads: ['extraObjects'],
  find: ({ extraObjects }) => {
    const titles = extraObjects.map(titleOf);
    return extraObjects.flatMap((each, index) =>
      problemIf(isSection(each['metadata']) && titles.indexOf(titles[index] ?? '') < index, {
        path: `extraObjects[${index}]`,
        message: `has kind and name of the one at ${titles.indexOf(titles[index] ?? '')}`,
        allowed: 'each object once',
      }),
    );
  },
};

/** What can be said of the user's objects without knowing their kinds. */
export const EXTRA_OBJECT_RULES: readonly Rule<ExtraObjectsPart>[] = [identityIsThere, noSecrets, objectsDiffer];

/** Kinds of Kubernetes that are in no namespace; those of others begin with Cluster, as a rule. */
const WITHOUT_NAMESPACE =
  /^(Cluster\w+|APIService|(Mutating|Validating)(WebhookConfiguration|AdmissionPolicy(Binding)?)|CSIDriver|CustomResourceDefinition|DeviceClass|FlowSchema|IngressClass|Namespace|Node|PersistentVolume|PriorityClass|PriorityLevelConfiguration|RuntimeClass|StorageClass|VolumeAttributesClass|VolumeSnapshotClass|SecurityContextConstraints)$/;

/** The namespace that an object of the user is written with; `undefined` where it has none. */
export function namespaceOf(object: Section, ofConsumer: string): string | undefined {
  const { namespace } = sectionOf(object, 'metadata');
  const usual = WITHOUT_NAMESPACE.test(String(object['kind'])) ? undefined : ofConsumer;
  return typeof namespace === 'string' ? namespace || undefined : usual;
}
