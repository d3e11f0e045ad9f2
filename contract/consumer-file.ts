import { type Static, Type } from 'typebox';
import { applicationPart } from './application-part.ts';
import { database } from './consumer-file/database.ts';
import { image } from './consumer-file/image.ts';
import { kafka } from './consumer-file/kafka.ts';
import { monitoring } from './consumer-file/monitoring.ts';
import { networkPolicy } from './consumer-file/network-policy.ts';
import { pods } from './consumer-file/pods.ts';
import { probes } from './consumer-file/probes.ts';
import { resources } from './consumer-file/resources.ts';
import { rollout } from './consumer-file/rollout.ts';
import { scaling } from './consumer-file/scaling.ts';
import { secrets } from './consumer-file/secrets.ts';
import { PRODUCT_NAME } from './identity.ts';
import { ALLOWED } from './schema-node.ts';
import { closed, section } from './section.ts';

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
