import { Type } from 'typebox';
import { section } from '../settings/section.ts';
import { annotationMap, labelMap } from './label-map.ts';
import { objectName } from './object-names.ts';

const toleration = Type.Object(
  {
    key: Type.Optional(Type.String({ minLength: 1, description: 'Key of the taint. Left out: any.' })),
    operator: Type.Enum(['Equal', 'Exists'], { default: 'Equal', description: 'Whether the value counts.' }),
    value: Type.Optional(Type.String({ description: 'Value of the taint. Left out: none.' })),
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
  },
  { ...section, description: 'What else is said about the Pods of the Deployment and of the Job.' },
);
