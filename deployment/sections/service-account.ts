import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import { section } from '../../settings/schema/schema.ts';
import { annotationMap, labelMap, objectName } from './object-names.ts';

/** As whom the Pods run in the cluster, and by it in a cloud. */
export const serviceAccount = Type.Object(
  {
    name: Type.Optional(
      Type.String({ ...objectName, description: 'Name of the ServiceAccount. Left out: that of the workload.' }),
    ),
    create: Type.Boolean({
      default: true,
      description: 'Whether the ServiceAccount is among the manifests; false wants the name of one that is there.',
    }),
    annotations: annotationMap({
      default: {},
      description: 'Its annotations, by which a cloud knows whose role it has (eks.amazonaws.com/role-arn).',
    }),
    labels: labelMap({ default: {}, description: 'More labels of it; ours win.' }),
  },
  {
    ...section,
    description:
      "As whom the Pods run. No token of the API server is mounted; a cloud's webhook projects its own beside it.",
  },
);

interface ServiceAccountPart {
  readonly serviceAccount: Static<typeof serviceAccount>;
}

const existingIsNamed: Rule<ServiceAccountPart> = {
  reads: ['serviceAccount.create', 'serviceAccount.name'],
  find: ({ serviceAccount: { create, name } }) =>
    problemIf(!create && name === undefined, {
      path: 'serviceAccount.name',
      message: 'is missing, and create: false leaves the ServiceAccount to you',
      allowed: 'the name of a ServiceAccount of the namespace; default is the one that every namespace has',
    }),
};

const existingIsLeftAlone = (key: 'annotations' | 'labels'): Rule<ServiceAccountPart> => ({
  reads: ['serviceAccount.create', `serviceAccount.${key}`],
  find: ({ serviceAccount: { create, [key]: given } }) =>
    problemIf(!create && Object.keys(given).length > 0, {
      path: `serviceAccount.${key}`,
      message: 'would be written nowhere, since create: false leaves the ServiceAccount to you',
      allowed: 'nothing, or create: true',
    }),
});

/** What must hold for the ServiceAccount. */
export const SERVICE_ACCOUNT_RULES: readonly Rule<ServiceAccountPart>[] = [
  existingIsNamed,
  existingIsLeftAlone('annotations'),
  existingIsLeftAlone('labels'),
];
