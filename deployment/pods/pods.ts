import { type Static, Type } from 'typebox';
import type { Rule } from '../../settings/schema/check.ts';
import { formatPath } from '../../settings/schema/document.ts';
import { type Problem, problemIf } from '../../settings/schema/problem.ts';
import { listBranch, type SchemaNode, section } from '../../settings/schema/schema.ts';
import {
  FREE_VARIABLE_INDEX,
  FREE_VARIABLE_PART,
  listSettings,
  type SettingEntry,
  springEnvironmentName,
} from '../../settings/schema/setting-list.ts';
import { SettingsSchema } from '../../settings/settings.ts';
import { SECRET_SETTINGS, secretHome } from '../sections/application.ts';
import { annotationMap, labelKey, labelMap, labelValue, objectName } from '../sections/object-names.ts';
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
    ...podParts,
  },
  { ...section, description: 'Further parts of the Pods of the Deployment and of the Job.' },
);

/** Why a variable does not belong into the environment of the Pods, and what does what it is for. */
type Refusal = Pick<Problem, 'message' | 'allowed'>;

const BY_THE_MANIFESTS = 'is set by the manifests';

const BY_NAME: Readonly<Record<string, Refusal>> = {
  CONFIG_FILE: { message: BY_THE_MANIFESTS, allowed: 'nothing here; application holds what the file says' },
  CONFIG_TREE: { message: BY_THE_MANIFESTS, allowed: 'nothing here; secrets.as: files mounts the folder' },
  NODE_OPTIONS: {
    message: `${BY_THE_MANIFESTS}, which keep the heap below the memory limit`,
    allowed: 'nothing here; resources.limits.memory decides how large the heap may grow',
  },
  POD_IP: {
    message: `${BY_THE_MANIFESTS} where it is needed`,
    allowed: 'nothing here; application.spring.boot.admin.client.instance says what Spring Boot Admin gets',
  },
  NODE_TLS_REJECT_UNAUTHORIZED: {
    message: 'switches off the verification of certificates for PostgreSQL, Kafka and HTTP alike',
    allowed: 'NODE_EXTRA_CA_CERTS, with the authority that is to be trusted',
  },
  NODE_PG_FORCE_NATIVE: { message: 'asks for a PostgreSQL client that the image has not', allowed: 'nothing here' },
};

const BY_PATTERN: readonly (Refusal & { readonly names: RegExp })[] = [
  {
    names: /^(PG[A-Z_]+|USER)$/,
    message: 'is read by the PostgreSQL client wherever the database URL is silent, and no check sees it',
    allowed:
      'the Secret that database.existingSecret names: url, with parameters such as ?sslmode=verify-full, user and password',
  },
  {
    names: /^(LD_[A-Z_]+|NODE_PATH|OPENSSL_MODULES|OPENSSL_ENGINES|GCONV_PATH)$/,
    message: 'loads code into the process that the image does not hold',
    allowed: 'nothing here; an image of your own (image.repository), made from the one that is built here',
  },
];

const SECRETS: ReadonlySet<string> = new Set(SECRET_SETTINGS.map(formatPath));

/** Settings that `application` may not have, or not alone. */
const HOMES: Readonly<Record<string, string>> = {
  'server.ssl.certificate': 'monitoring.tls.existingSecret',
  'server.ssl.certificate-private-key': 'monitoring.tls.existingSecret',
  'database.migrate': 'database.migrate',
  'kafka.groupInstanceId': 'nothing here; the manifests set it to the uid of each Pod',
};

function refuseSetting({ segments, path }: SettingEntry): Refusal {
  if (SECRETS.has(path)) {
    const allowed = `a Secret in the cluster, named by ${secretHome(segments)}`;
    return { message: 'is a secret, and a manifest is no place for one', allowed };
  }
  const message = `is the setting ${path}, and would win over the one that the manifests were made and checked with`;
  return { message, allowed: HOMES[path] ?? `application.${path}` };
}

/** The names that the process takes for a setting, a list's items included. */
function variablesOf({ environmentName, path, schema }: SettingEntry): RegExp {
  const names = [environmentName, springEnvironmentName(path)].map((name) =>
    name.replace(FREE_VARIABLE_INDEX, '\\d{1,3}').replace(FREE_VARIABLE_PART, '.+'),
  );
  return new RegExp(`^(${names.join('|')})${listBranch(schema) === undefined ? '' : '(_\\d+)?'}$`);
}

const SETTINGS = listSettings(SettingsSchema as SchemaNode).map((setting) => ({
  names: variablesOf(setting),
  ...refuseSetting(setting),
}));

const REFUSED: readonly (Refusal & { readonly names: RegExp })[] = [
  ...Object.entries(BY_NAME).map(([name, refusal]) => ({ names: new RegExp(`^${name}$`), ...refusal })),
  ...BY_PATTERN,
  ...SETTINGS,
];

interface PodsPart {
  readonly pods: Static<typeof pods>;
}

const environmentIsFree: Rule<PodsPart> = {
  reads: ['pods.environment[]'],
  find: ({ pods }) =>
    Object.keys(pods.environment).flatMap((name): Problem[] => {
      const refusal = REFUSED.find(({ names }) => names.test(name));
      const path = `pods.environment.${name}`;
      return refusal === undefined ? [] : [{ path, message: refusal.message, allowed: refusal.allowed }];
    }),
};

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
export const POD_RULES: readonly Rule<PodsPart>[] = [environmentIsFree, tolerationsFit];
