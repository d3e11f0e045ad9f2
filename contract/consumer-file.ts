import { type Static, Type } from 'typebox';
import { applicationPart } from './application-part.ts';
import { PRODUCT_NAME } from './identity.ts';
import { MEMORY_SIZE_PATTERN } from './memory-size.ts';
import { ALLOWED } from './schema-node.ts';

const closed = { additionalProperties: false } as const;
const section = { ...closed, default: {} } as const;

const DNS_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const dnsLabel = (maxLength: number, description: string, fallback: string) =>
  Type.String({
    pattern: `^${DNS_LABEL}$`,
    maxLength,
    default: fallback,
    description,
    [ALLOWED]: `a name of at most ${maxLength} lower-case letters, digits and dashes that begins with a letter`,
  });

const objectName = {
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
  maxLength: 253,
  [ALLOWED]: 'the name of a Kubernetes object: lower-case letters, digits, dashes and dots',
};

const secretKey = (fallback: string) =>
  Type.String({
    pattern: '^[-._a-zA-Z0-9]{1,253}$',
    default: fallback,
    description: `Key of the Secret; left out: ${fallback}.`,
    [ALLOWED]: 'a key of a Secret: letters, digits, dashes, underscores and dots',
  });

const image = Type.Object(
  {
    repository: Type.String({
      pattern: '^([a-z0-9.-]+(:[0-9]{1,5})?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$',
      default: `localhost/${PRODUCT_NAME}`,
      description: 'Registry and repository that the nodes pull from.',
      [ALLOWED]: 'an image repository without tag or digest, such as registry.example.com/team/stream-consumer',
    }),
    tag: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$',
        description: "Left out: the package's version. `latest` is refused.",
        [ALLOWED]: 'an image tag of at most 63 letters, digits, dots, underscores and dashes',
      }),
    ),
    digest: Type.Optional(
      Type.String({
        pattern: '^sha256:[a-f0-9]{64}$',
        description: 'Wins over the tag; left out: the tag is used.',
        [ALLOWED]: 'sha256: and 64 hexadecimal digits',
      }),
    ),
    pullSecrets: Type.Array(Type.String(objectName), {
      default: [],
      uniqueItems: true,
      description: 'Secrets with the credentials of a private registry; left out: none.',
    }),
  },
  section,
);

const cpu = (fallback: string, description: string) =>
  Type.String({
    pattern: '^([1-9][0-9]*m|[1-9][0-9]*(\\.[0-9]{1,3})?|0\\.[0-9]{1,3})$',
    default: fallback,
    description,
    [ALLOWED]: "an amount of CPU in quotes, such as '250m' or '1'",
  });

const memorySize = {
  pattern: MEMORY_SIZE_PATTERN,
  [ALLOWED]: 'a size such as 256Mi or 1Gi',
};

const resources = Type.Object(
  {
    requests: Type.Object(
      {
        cpu: cpu('100m', 'CPU that the scheduler sets aside for a Pod.'),
        memory: Type.Optional(
          Type.String({ ...memorySize, description: "Memory that the scheduler sets aside; left out: the limit's." }),
        ),
      },
      section,
    ),
    limits: Type.Object(
      {
        cpu: cpu('1', 'CPU beyond which a Pod is slowed down; the consumer runs JavaScript on one core.'),
        memory: Type.String({
          ...memorySize,
          default: '512Mi',
          description: "Memory beyond which a Pod is killed; V8's heap and the memory alerts are computed from it.",
        }),
      },
      section,
    ),
  },
  section,
);

const database = Type.Object(
  {
    existingSecret: Type.Optional(
      Type.String({
        ...objectName,
        description: 'Secret with the credentials, made by you in the same namespace; left out: <name>-database.',
      }),
    ),
    keys: Type.Object({ url: secretKey('url'), user: secretKey('user'), password: secretKey('password') }, section),
  },
  { ...section, description: "PostgreSQL's URL, user and password; user and password may be missing from the Secret." },
);

const kafka = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret with the SASL credentials, made by you in the same namespace.',
    }),
    keys: Type.Object({ username: secretKey('username'), password: secretKey('password') }, section),
  },
  { ...closed, description: 'Credentials of the brokers, needed with application.kafka.sasl; left out: none.' },
);

const monitoring = Type.Object(
  {
    customResources: Type.Boolean({
      default: true,
      description:
        "Whether monitoring.k8s.yaml is written: ServiceMonitor and PrometheusRule, for clusters with the Prometheus Operator's CRDs.",
    }),
    labels: Type.Record(Type.String(), Type.String(), {
      default: {},
      description: 'More labels for both, for operators that select by label (release: kube-prometheus-stack).',
    }),
    scrapeIntervalSeconds: Type.Integer({
      minimum: 5,
      maximum: 30,
      default: 15,
      description: 'Time between two scrapes; the health alert has to see a failing Pod before its probe ends it.',
    }),
    runbookBaseUrl: Type.String({
      pattern: '^https?://[^\\s]+[^\\s/]$',
      default: 'https://github.com/stream-consumer/stream-consumer/blob/main/docs/runbooks',
      description: "Where docs/runbooks is published: each alert's runbook_url is this, a slash and <AlertName>.md.",
      [ALLOWED]: 'an http or https URL without a slash at its end',
    }),
  },
  section,
);

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
      section,
    ),
    image,
    replicas: Type.Integer({
      minimum: 0,
      maximum: 1_000,
      default: 1,
      description: 'Pods; beyond the number of partitions they wait idle.',
    }),
    resources,
    terminationGracePeriodSeconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 40,
      description: 'Time between SIGTERM and SIGKILL; longer than application.shutdown.timeout.',
    }),
    probes: Type.Object(
      {
        paths: Type.Enum(['root', 'groups'], {
          default: 'root',
          description:
            'root: both probes ask /actuator/health. groups: each asks its group, so that a database outage takes Pods out of service but restarts none.',
        }),
      },
      section,
    ),
    database,
    kafka: Type.Optional(kafka),
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
