import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import { section } from '../../settings/schema/schema.ts';
import { annotationMap, labelKey, labelMap, labelValue, objectName } from '../sections/object-names.ts';
import { ENVIRONMENT_RULES } from './environment.ts';
import { podParts } from './pod-parts.ts';

const toleration = Type.Object(
  {
    key: Type.Optional(
      Type.String({ ...labelKey, description: 'Key of the taint; any needs the operator Exists. Left out: any.' }),
    ),
    operator: Type.Enum(['Equal', 'Exists'], { default: 'Equal', description: 'Whether the value counts.' }),
    value: Type.Optional(Type.String({ ...labelValue, description: 'Value of the taint. Left out: none.' })),
    effect: Type.Optional(
      Type.Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], {
        description: 'What the taint does. Left out: any.',
      }),
    ),
    tolerationSeconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 86_400, description: 'Time to stay, with NoExecute. Left out: for ever.' }),
    ),
  },
  { additionalProperties: false },
);

/** What else is said about the Pods: where they run, what they carry. */
export const pods = Type.Object(
  {
    labels: labelMap({ default: {}, description: 'More labels; ours win.' }),
    annotations: annotationMap({ default: {}, description: 'More annotations; ours win.' }),
    environment: Type.Unsafe<Record<string, string>>(
      Type.Object(
        {},
        {
          additionalProperties: false,
          patternProperties: { '^[A-Za-z_][A-Za-z0-9_]*$': Type.String() },
          default: {},
          description:
            'More environment variables, such as TZ or NODE_EXTRA_CA_CERTS; no settings, which belong into application, and no secrets.',
        },
      ),
    ),
    nodeSelector: labelMap({ default: {}, description: 'Labels that a node must have.' }),
    tolerations: Type.Array(toleration, {
      default: [],
      description: 'Taints of nodes that do not keep the Pods away.',
    }),
    priorityClassName: Type.Optional(
      Type.String({
        ...objectName,
        description: "Who goes first where there is no room. Left out: the cluster's default.",
      }),
    ),
    spread: Type.Boolean({
      default: true,
      description: 'Whether the Pods prefer different nodes and zones; they start without, too.',
    }),
    doctor: Type.Boolean({
      default: false,
      description:
        'Whether an init container runs "stream-consumer doctor" before the consumer begins. It fails where something is wrong, and never because something is away.',
    }),
    userFromCluster: Type.Boolean({
      default: false,
      description:
        'Whether the cluster chooses user and group of the Pods, as OpenShift does: then they name no uid, gid or fsGroup.',
    }),
    ...podParts,
  },
  { ...section, description: 'Further parts of the Pods of the Deployment and of the Job.' },
);

interface PodsPart {
  readonly pods: Static<typeof pods>;
}

const tolerationsFit: Rule<PodsPart> = {
  reads: ['pods.tolerations[]'],
  find: ({ pods }) =>
    pods.tolerations.flatMap(({ key, operator, value, effect, tolerationSeconds }, index) => [
      ...problemIf(key === undefined && operator === 'Equal', {
        path: `pods.tolerations[${index}].operator`,
        message: 'compares a value, and no key is given',
        given: operator,
        allowed: 'Exists, or a key',
      }),
      ...problemIf(operator === 'Exists' && (value ?? '') !== '', {
        path: `pods.tolerations[${index}].value`,
        message: 'does not count with the operator Exists',
        given: value,
        allowed: 'nothing, or the operator Equal',
      }),
      ...problemIf(tolerationSeconds !== undefined && effect !== 'NoExecute', {
        path: `pods.tolerations[${index}].tolerationSeconds`,
        message: 'counts with the effect NoExecute alone',
        given: tolerationSeconds,
        allowed: 'nothing, or effect: NoExecute',
      }),
    ]),
};

/** What must hold for what is said about the Pods. */
export const POD_RULES: readonly Rule<PodsPart>[] = [...ENVIRONMENT_RULES, tolerationsFit];
