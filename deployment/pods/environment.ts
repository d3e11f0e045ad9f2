import type { Rule } from '../../settings/schema/check.ts';
import { formatPath, isSection } from '../../settings/schema/document.ts';
import { type Problem, problemIf } from '../../settings/schema/problem.ts';
import { listBranch, type SchemaNode } from '../../settings/schema/schema.ts';
import {
  FREE_VARIABLE_INDEX,
  FREE_VARIABLE_PART,
  listSettings,
  type SettingEntry,
  springEnvironmentName,
} from '../../settings/schema/setting-list.ts';
import { SettingsSchema } from '../../settings/settings.ts';
import { SECRET_SETTINGS, secretHome } from '../sections/application.ts';
import { type PodParts, typeProblems } from './pod-parts.ts';

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

interface EnvironmentPart {
  readonly pods: PodParts & { readonly environment: Readonly<Record<string, string>> };
}

function refusedName(name: string, path: string): readonly Problem[] {
  const refusal = REFUSED.find(({ names }) => names.test(name));
  return refusal === undefined ? [] : [{ path, message: refusal.message, allowed: refusal.allowed }];
}

const environmentIsFree: Rule<EnvironmentPart> = {
  reads: ['pods.environment[]'],
  find: ({ pods }) => Object.keys(pods.environment).flatMap((name) => refusedName(name, `pods.environment.${name}`)),
};

/** What the API server refuses of a variable, and its published schema allows. */
function sourceProblems(variable: PodParts['env'][number], at: string): readonly Problem[] {
  const { value, valueFrom } = variable;
  const sources = isSection(valueFrom) ? Object.keys(valueFrom) : [];
  return [
    ...problemIf(isSection(valueFrom) && sources.length !== 1, {
      path: `${at}.valueFrom`,
      message: `has ${sources.length} sources`,
      allowed: 'one of configMapKeyRef, fieldRef, resourceFieldRef, secretKeyRef',
    }),
    ...problemIf(valueFrom !== undefined && value !== undefined, {
      path: `${at}.value`,
      message: 'is beside valueFrom',
      allowed: 'one of both',
    }),
  ];
}

/** The variables in Kubernetes' words, with their places, where Kubernetes knows all of them. */
const knownVariables = (pods: PodParts) =>
  typeProblems(pods, 'env').length > 0
    ? []
    : pods.env.map((variable, index) => ({ variable, name: String(variable['name']), at: `pods.env[${index}]` }));

const variablesAreFree: Rule<EnvironmentPart> = {
  reads: ['pods.env'],
  find: ({ pods }) =>
    knownVariables(pods).flatMap(({ variable, name, at }) => [
      ...refusedName(name, `${at}.name`),
      ...sourceProblems(variable, at),
    ]),
};

const variablesDiffer: Rule<EnvironmentPart> = {
  reads: ['pods.env', 'pods.environment'],
  find: ({ pods }) => {
    const names = pods.env.map(({ name }) => name);
    return knownVariables(pods).flatMap(({ name, at }, index) =>
      problemIf(names.indexOf(name) < index || Object.hasOwn(pods.environment, name), {
        path: `${at}.name`,
        message: 'is the name of two variables',
        given: name,
        allowed: 'each once in pods.env and pods.environment together',
      }),
    );
  },
};

/** What no variable of the Pods may be. */
export const ENVIRONMENT_RULES: readonly Rule<EnvironmentPart>[] = [
  environmentIsFree,
  variablesAreFree,
  variablesDiffer,
];
