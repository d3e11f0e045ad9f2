import { type Static, Type } from 'typebox';
import { PRODUCT_NAME } from '../contract/identity.ts';
import type { Rule } from '../settings/schema/check.ts';
import { valueAt } from '../settings/schema/document.ts';
import { milliseconds } from '../settings/schema/duration.ts';
import { type Problem, problemIf } from '../settings/schema/problem.ts';
import { ALLOWED, closed, section } from '../settings/schema/schema.ts';
import { annotations, labels } from './common-metadata.ts';
import { DATABASE_RULES, database } from './database.ts';
import { EXTRA_OBJECT_RULES, extraObjects } from './extra-objects.ts';
import { FILES_RULES, files } from './mounted-files.ts';
import { POD_PART_RULES } from './pods/pod-collisions.ts';
import { POD_RULES, pods } from './pods/pods.ts';
import { ALERT_RULES } from './sections/alerts.ts';
import { applicationPart, registryHasCredentials } from './sections/application.ts';
import { CERTIFICATE_RULES } from './sections/certificates.ts';
import { ENDPOINT_RULES } from './sections/endpoint.ts';
import { IMAGE_RULES, image } from './sections/image.ts';
import { monitoring, SCRAPE_RULES } from './sections/monitoring.ts';
import { NETWORK_RULES, networkPolicy } from './sections/network-policy.ts';
import { PATCH_RULES, patches } from './sections/patches.ts';
import { PROBE_RULES, probes } from './sections/probes.ts';
import { RESOURCE_RULES, resources } from './sections/resources.ts';
import { ROLLOUT_RULES, rollout } from './sections/rollout.ts';
import { SCALING_RULES, scaling } from './sections/scaling.ts';
import { kafka, SECRET_RULES, saslHasCredentials, schemaRegistry, secrets } from './sections/secrets.ts';
import { SERVICE_ACCOUNT_RULES, serviceAccount } from './sections/service-account.ts';

const DNS_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const dnsLabel = (maxLength: number, description: string, fallback: string) =>
  Type.String({
    pattern: `^${DNS_LABEL}$`,
    maxLength,
    default: fallback,
    description,
    [ALLOWED]: `a name of at most ${maxLength} lower-case letters, digits and dashes that begins with a letter`,
  });

/**
 * consumer.yaml: the one file a user edits. Types, defaults, the published JSON Schema and the check at synth come from
 * here; the part `application` is the consumer's own schema without its secrets.
 */
export const ConsumerFileSchema = Type.Object(
  {
    name: dnsLabel(45, 'Name of the workload; all objects derive their names from it.', PRODUCT_NAME),
    namespace: Type.Object(
      {
        name: dnsLabel(63, 'Namespace of all objects.', PRODUCT_NAME),
        create: Type.Boolean({ default: true, description: 'Whether the Namespace is among the manifests.' }),
      },
      { ...section, description: 'Where the objects are.' },
    ),
    labels,
    annotations,
    image,
    replicas: Type.Integer({
      minimum: 0,
      maximum: 1_000,
      default: 1,
      description: 'Pods; beyond the number of partitions they wait idle. An autoscaler (scaling) decides instead.',
    }),
    partitions: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200_000,
        description: 'Partitions of all topics together, which limit how many Pods have work; left out: unknown.',
      }),
    ),
    scaling,
    rollout,
    resources,
    terminationGracePeriodSeconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 40,
      description: 'Time between SIGTERM and SIGKILL; longer than application.shutdown.timeout.',
    }),
    probes,
    serviceAccount,
    pods,
    database,
    kafka: Type.Optional(kafka),
    schemaRegistry: Type.Optional(schemaRegistry),
    secrets,
    networkPolicy,
    monitoring,
    patches,
    extraObjects,
    files,
    application: applicationPart(),
  },
  {
    ...closed,
    $id: 'https://stream-consumer.dev/schemas/consumer.schema.json',
    title: 'consumer.yaml of stream-consumer',
  },
);

/** consumer.yaml after defaults were filled in; `application` stays as the user wrote it. */
export type ConsumerFile = Static<typeof ConsumerFileSchema>;

/** cdk8s takes an object with such a key for an instance of a class, and throws (its `sanitizeValue`). */
const UNRENDERABLE = 'constructor';

/** The parts that have maps whose keys are the user's and become keys of an object. */
const PARTS = [
  'labels',
  'annotations',
  'serviceAccount',
  'pods',
  'monitoring',
  'networkPolicy',
  'scaling',
  'database',
  'kafka',
  'schemaRegistry',
  'extraObjects',
  'files',
] as const;

/** Becomes a list. */
const ENVIRONMENT = 'pods.environment';

function keyProblems(value: unknown, path: string): Problem[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => keyProblems(item, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null || path === ENVIRONMENT) {
    return [];
  }
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = `${path}.${key}`;
    return key === UNRENDERABLE ? [unrenderable(place)] : keyProblems(inner, place);
  });
}

const unrenderable = (path: string): Problem => ({
  path,
  message: 'has a name that cdk8s cannot render',
  allowed: `any other name; with a prefix it can be had: example.com/${UNRENDERABLE}`,
});

/** Labels and annotations may have any name that Kubernetes allows, but for one. */
const namesAreRendered: readonly Rule<ConsumerFile>[] = PARTS.map((part) => ({
  reads: [`${part}[]`],
  find: (file) => keyProblems(file[part], part),
}));

const graceOutlastsDrain: Rule<ConsumerFile> = {
  reads: ['terminationGracePeriodSeconds', 'application.shutdown.timeout'],
  find: ({ terminationGracePeriodSeconds, application }) => {
    const timeout = String(valueAt(application, ['shutdown', 'timeout']));
    return problemIf(terminationGracePeriodSeconds * 1_000 <= milliseconds(timeout), {
      path: 'terminationGracePeriodSeconds',
      message: `is not longer than application.shutdown.timeout (${timeout}), so a Pod would be killed while it drains`,
      given: terminationGracePeriodSeconds,
      allowed: `more than ${Math.ceil(milliseconds(timeout) / 1_000)} seconds, or a shorter application.shutdown.timeout`,
    });
  },
};

/** What must fit together in consumer.yaml; asked only where the values themselves are right. */
export const CONSUMER_FILE_RULES: readonly Rule<ConsumerFile>[] = [
  ...IMAGE_RULES,
  graceOutlastsDrain,
  ...RESOURCE_RULES,
  saslHasCredentials,
  registryHasCredentials,
  ...ENDPOINT_RULES,
  ...PROBE_RULES,
  ...ROLLOUT_RULES,
  ...SCALING_RULES,
  ...NETWORK_RULES,
  ...SCRAPE_RULES,
  ...ALERT_RULES,
  ...SECRET_RULES,
  ...DATABASE_RULES,
  ...CERTIFICATE_RULES,
  ...SERVICE_ACCOUNT_RULES,
  ...POD_RULES,
  ...POD_PART_RULES,
  ...PATCH_RULES,
  ...EXTRA_OBJECT_RULES,
  ...FILES_RULES,
  ...namesAreRendered,
];
