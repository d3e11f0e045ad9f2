import { type Static, Type } from 'typebox';
import { PRODUCT_NAME } from '../contract/identity.ts';
import { ALLOWED } from '../settings/schema.ts';
import { closed, section } from '../settings/section.ts';
import { applicationPart } from './application.ts';
import { secrets } from './container-secrets.ts';
import { database } from './database.ts';
import { image } from './image.ts';
import { kafka } from './kafka.ts';
import { monitoring } from './monitoring.ts';
import { networkPolicy } from './network-policy.ts';
import { pods } from './pods.ts';
import { probes } from './probes.ts';
import { resources } from './resources.ts';
import { rollout } from './rollout.ts';
import { scaling } from './scaling.ts';

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
    pods,
    database,
    kafka: Type.Optional(kafka),
    secrets,
    networkPolicy,
    monitoring,
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
