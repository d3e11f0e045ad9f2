import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { type Problem, problemIf } from '../../settings/schema/problem.ts';
import { ALLOWED, closed } from '../../settings/schema/schema.ts';
import { objectName } from './object-names.ts';

const pointer = (description: string) => ({
  pattern: '^(/([^~/\\p{Cc}]|~[01])*)+$',
  description,
  [ALLOWED]: 'a JSON pointer such as /spec/template/spec/hostAliases; ~1 is a slash within a key, ~0 a tilde',
});

const operation = Type.Object(
  {
    op: Type.Enum(['add', 'remove', 'replace', 'move', 'copy', 'test'], { description: 'What is done (RFC 6902).' }),
    path: Type.String(pointer('Where (RFC 6901); - is the end of a list.')),
    from: Type.Optional(Type.String(pointer('Where the value of move and copy is. Left out: none.'))),
    value: Type.Optional(Type.Unknown({ description: 'The value of add, replace and test. Left out: none.' })),
  },
  closed,
);

const patch = Type.Object(
  {
    kind: Type.Optional(
      Type.String({
        pattern: '^[A-Z][A-Za-z]{1,62}$',
        description: 'Kind of the object. Left out: each object of the name, or each object at all.',
        [ALLOWED]: 'a kind such as Deployment',
      }),
    ),
    name: Type.Optional(
      Type.String({
        ...objectName,
        description: 'Its name, without the hash where it ends in one. Left out: each object of the kind.',
      }),
    ),
    operations: Type.Array(operation, {
      minItems: 1,
      description: 'What is changed, in this order; all of it or nothing.',
    }),
  },
  closed,
);

/** Changes of the finished objects. */
export const patches = Type.Array(patch, {
  default: [],
  description:
    'Changes of the finished objects as JSON patches (RFC 6902), for what nothing else here has a word for; no check sees what they make. One that matches no object, or fails, is an error.',
});

/** One change of objects of a kind. */
export type Patch = Static<typeof patch>;

/** One operation of RFC 6902. */
export type PatchOperation = Static<typeof operation>;

/** What is rendered beside the consumer, by `StreamConsumerMonitoring`. */
const MONITORING_KINDS: readonly string[] = ['ServiceMonitor', 'PodMonitor', 'ScrapeConfig', 'PrometheusRule'];

/** Whether a patch is for what is rendered beside the consumer alone. */
export const isOfMonitoring = ({ kind }: Patch): boolean => kind !== undefined && MONITORING_KINDS.includes(kind);

/** An object that a patch may be for. */
interface NamedObject {
  readonly kind: string;
  readonly name: string;
}

/** The names of some objects end in a hash of their content, which is not known before. */
export const isMeant = ({ kind, name }: Patch, object: NamedObject): boolean =>
  (kind === undefined || object.kind === kind) &&
  (name === undefined || object.name === name || object.name.replace(/-[0-9a-f]{10}$/, '') === name);

interface PatchesPart {
  readonly patches: readonly Patch[];
  readonly monitoring: { readonly customResources: boolean };
}

const WANTS_VALUE: readonly string[] = ['add', 'replace', 'test'];
const WANTS_FROM: readonly string[] = ['move', 'copy'];

function operandProblems({ op, from, value }: PatchOperation, at: string): readonly Problem[] {
  return [
    ...problemIf(WANTS_VALUE.includes(op) !== (value !== undefined), {
      path: `${at}.value`,
      message: value === undefined ? `is missing, and ${op} needs one` : `is not used by ${op}`,
      allowed: `a value with ${WANTS_VALUE.join(', ')}; none otherwise`,
    }),
    ...problemIf(WANTS_FROM.includes(op) !== (from !== undefined), {
      path: `${at}.from`,
      message: from === undefined ? `is missing, and ${op} needs one` : `is not used by ${op}`,
      allowed: `a JSON pointer with ${WANTS_FROM.join(', ')}; none otherwise`,
    }),
  ];
}

const operandsFit: Rule<PatchesPart> = {
  reads: ['patches[]'],
  find: ({ patches }) =>
    patches.flatMap(({ operations }, index) =>
      operations.flatMap((each, place) => operandProblems(each, `patches[${index}].operations[${place}]`)),
    ),
};

/** What names an object, and what its name is a hash of. */
const IDENTITY = /^\/(apiVersion|kind|metadata\/(name|namespace))(\/|$)/;
const CONTENT = /^\/(data|binaryData|immutable)(\/|$)/;

function identityProblems({ kind, operations }: Patch, at: string): Problem[] {
  return operations.flatMap(({ op, path, from }, place): readonly Problem[] => {
    const written = [...(op === 'test' ? [] : [path]), ...(op === 'move' && from !== undefined ? [from] : [])];
    return [
      ...problemIf(
        written.some((each) => IDENTITY.test(`${each}`)),
        {
          path: `${at}.operations[${place}].path`,
          message: 'would make another object of it, which others look for by its name',
          given: path,
          allowed: 'name, namespace and serviceAccount.name of consumer.yaml',
        },
      ),
      ...problemIf((kind ?? 'ConfigMap') === 'ConfigMap' && written.some((each) => CONTENT.test(each)), {
        path: `${at}.operations[${place}].path`,
        message: 'is content that the name of the ConfigMap is a hash of, so that a change makes the Pods roll',
        given: path,
        allowed: 'application, whose settings become the content',
      }),
    ];
  });
}

const identityStays: Rule<PatchesPart> = {
  reads: ['patches[]'],
  find: ({ patches }) => patches.flatMap((each, index) => identityProblems(each, `patches[${index}]`)),
};

const monitoringIsThere: Rule<PatchesPart> = {
  reads: ['patches[]', 'monitoring.customResources'],
  find: ({ patches, monitoring }) =>
    patches.flatMap((each, index) =>
      problemIf(!monitoring.customResources && isOfMonitoring(each), {
        path: `patches[${index}].kind`,
        message: 'is not among the manifests with monitoring.customResources: false',
        given: each.kind,
        allowed: 'another kind, or monitoring.customResources: true',
      }),
    ),
};

/** What can be said of patches before there are objects. */
export const PATCH_RULES: readonly Rule<PatchesPart>[] = [operandsFit, identityStays, monitoringIsThere];
