// Written by npm run generate out of consumer.yaml's schema; never edited.

/** The content of consumer.yaml, as the props of a construct. */
export interface StreamConsumerProps {
  /**
   * Name of the workload; all objects derive their names from it.
   *
   * Allowed: a name of at most 45 lower-case letters, digits and dashes that begins with a letter.
   *
   * @default 'stream-consumer'
   */
  readonly name?: string;

  /**
   * Where the objects are.
   *
   * @default { name: 'stream-consumer', create: true }
   */
  readonly namespace?: NamespaceProps;

  /**
   * Labels of each object, the monitoring too; never of selectors and Pods, which pods.labels is for. Those of a
   * section and ours win.
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * Annotations of each object, the monitoring too; never of Pods, which pods.annotations is for. Those of a section
   * and ours win.
   *
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;

  /** Which image the Pods run. */
  readonly image: ImageProps;

  /**
   * Pods; beyond the number of partitions they wait idle. An autoscaler (scaling) decides instead.
   *
   * Allowed: 0 to 1000.
   *
   * @default 1
   */
  readonly replicas?: number;

  /**
   * Partitions of all topics together, which limit how many Pods have work; left out: unknown.
   *
   * Allowed: 1 to 200000.
   *
   * @default - unknown
   */
  readonly partitions?: number;

  /**
   * `scaling` of consumer.yaml.
   *
   * @default {}
   */
  readonly scaling?: ScalingProps;

  /**
   * How Pods are replaced.
   *
   * @default { maxSurge: 0, maxUnavailable: 1, minReadySeconds: 0 }
   */
  readonly rollout?: RolloutProps;

  /**
   * What a Pod may use.
   *
   * @default { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '512Mi' } }
   */
  readonly resources?: ResourcesProps;

  /**
   * Time between SIGTERM and SIGKILL; longer than application.shutdown.timeout.
   *
   * Allowed: 1 to 3600.
   *
   * @default 40
   */
  readonly terminationGracePeriodSeconds?: number;

  /**
   * What Kubernetes asks the Pods, and how often.
   *
   * @default { paths: 'root', liveness: { initialDelaySeconds: 60, periodSeconds: 30, timeoutSeconds: 10,
   * failureThreshold: 3 }, readiness: { initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 5,
   * failureThreshold: 3 } }
   */
  readonly probes?: ProbesProps;

  /**
   * As whom the Pods run. No token of the API server is mounted; a cloud's webhook projects its own beside it.
   *
   * @default { create: true, annotations: {}, labels: {} }
   */
  readonly serviceAccount?: ServiceAccountProps;

  /**
   * Further parts of the Pods of the Deployment and of the Job.
   *
   * @default { labels: {}, annotations: {}, environment: {}, nodeSelector: {}, tolerations: [], spread: true, doctor:
   * false, userFromCluster: false, volumes: [], volumeMounts: [], envFrom: [], env: [], hostAliases: [],
   * initContainers: [], sidecars: [] }
   */
  readonly pods?: PodsProps;

  /** PostgreSQL's URL, user and password; user and password may be missing from the Secret. */
  readonly database: DatabaseProps;

  /**
   * Credentials of the brokers, needed with application.kafka.sasl, and certificates. Left out: none.
   *
   * @default - none
   */
  readonly kafka?: KafkaProps;

  /**
   * Credentials of application.schemaRegistry, and certificates. Left out: none.
   *
   * @default - none
   */
  readonly schemaRegistry?: SchemaRegistryProps;

  /**
   * How the container gets what the Secrets hold.
   *
   * @default { as: 'files' }
   */
  readonly secrets?: SecretsProps;

  /**
   * `networkPolicy` of consumer.yaml.
   *
   * @default { enabled: true, ingress: [{ namespace: 'monitoring' }], egress: { dns: [{ ports: [] }], brokers: [{
   * ports: [] }], database: [{ ports: [] }], schemaRegistry: [{ ports: [] }], tokens: [{ ports: [] }], others: [] } }
   */
  readonly networkPolicy?: NetworkPolicyProps;

  /**
   * How the consumer is scraped and watched.
   *
   * @default { customResources: true, scrape: 'serviceMonitor', annotationJob: 'kubernetes-pods',
   * scrapeIntervalSeconds: 15, runbookBaseUrl:
   * 'https://github.com/stream-consumer/stream-consumer/blob/main/docs/runbooks', dashboards: { ... }, alerts: { ...
   * } }
   */
  readonly monitoring?: MonitoringProps;

  /**
   * Changes of the finished objects as JSON patches (RFC 6902), for what nothing else here has a word for; no check
   * sees what they make. One that matches no object, or fails, is an error.
   *
   * @default []
   */
  readonly patches?: readonly PatchesProps[];

  /**
   * More objects, as Kubernetes takes them. One without metadata.namespace gets that of the consumer, unless its kind
   * is known to have none; an empty text leaves it out. Only the API server checks the rest.
   *
   * Allowed: a list, each item an object of Kubernetes: a map with apiVersion, kind and metadata.name.
   *
   * @default []
   */
  readonly extraObjects?: readonly Readonly<Record<string, unknown>>[];

  /**
   * Files beside application.yml, by name, such as schemas of formats: the text of each. They are in the ConfigMap,
   * and a change rolls the Pods. A setting names one of them as it is named here.
   *
   * Allowed: a map of names, which may have folders, and texts.
   *
   * @default {}
   */
  readonly files?: Readonly<Record<string, string>>;

  /** Settings of the consumer, as in application.yml; they go into the ConfigMap. */
  readonly application: ApplicationProps;
}

/** Where the objects are. */
export interface NamespaceProps {
  /**
   * Namespace of all objects.
   *
   * Allowed: a name of at most 63 lower-case letters, digits and dashes that begins with a letter.
   *
   * @default 'stream-consumer'
   */
  readonly name?: string;

  /**
   * Whether the Namespace is among the manifests.
   *
   * @default true
   */
  readonly create?: boolean;
}

/** Which image the Pods run. */
export interface ImageProps {
  /**
   * Registry and repository that the nodes pull from.
   *
   * Allowed: an image repository without tag or digest, such as registry.example.com/team/stream-consumer.
   */
  readonly repository: string;

  /**
   * Left out: the package's version. `latest` is refused.
   *
   * Allowed: an image tag of at most 63 letters, digits, dots, underscores and dashes.
   *
   * @default - the package's version
   */
  readonly tag?: string;

  /**
   * Wins over the tag; left out: the tag is used.
   *
   * Allowed: sha256: and 64 hexadecimal digits.
   *
   * @default - the tag is used
   */
  readonly digest?: string;

  /**
   * When the nodes pull it (imagePullPolicy); Never wants it on each node already.
   *
   * @default 'IfNotPresent'
   */
  readonly pullPolicy?: 'IfNotPresent' | 'Always' | 'Never';

  /**
   * Secrets with the credentials of a private registry; left out: none.
   *
   * @default []
   */
  readonly pullSecrets?: readonly string[];
}

/** `scaling` of consumer.yaml. */
export interface ScalingProps {
  /**
   * KEDA: as many Pods as the group's lag asks for. Left out: not used.
   *
   * @default - not used
   */
  readonly keda?: ScalingKedaProps;

  /**
   * HorizontalPodAutoscaler: by CPU, memory or an external metric. Left out: not used.
   *
   * @default - not used
   */
  readonly hpa?: ScalingHpaProps;
}

/** How Pods are replaced. */
export interface RolloutProps {
  /**
   * Pods beyond replicas that a rollout may start before it ends old ones; more than 0 needs partitions.
   *
   * Allowed: 0 to 100.
   *
   * @default 0
   */
  readonly maxSurge?: number;

  /**
   * Pods below replicas that a rollout may leave.
   *
   * Allowed: 0 to 100.
   *
   * @default 1
   */
  readonly maxUnavailable?: number;

  /**
   * Seconds that a new Pod has to be ready before the rollout goes on.
   *
   * Allowed: 0 to 599.
   *
   * @default 0
   */
  readonly minReadySeconds?: number;
}

/** What a Pod may use. */
export interface ResourcesProps {
  /**
   * What the scheduler sets aside for a Pod.
   *
   * @default { cpu: '100m' }
   */
  readonly requests?: ResourcesRequestsProps;

  /**
   * What a Pod may use at most.
   *
   * @default { cpu: '1', memory: '512Mi' }
   */
  readonly limits?: ResourcesLimitsProps;
}

/** What Kubernetes asks the Pods, and how often. */
export interface ProbesProps {
  /**
   * root: both probes ask /actuator/health. groups: each asks its group, so that a database outage takes Pods out of
   * service but restarts none.
   *
   * @default 'root'
   */
  readonly paths?: 'root' | 'groups';

  /**
   * When a Pod is restarted.
   *
   * @default { initialDelaySeconds: 60, periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 3 }
   */
  readonly liveness?: ProbesLivenessProps;

  /**
   * When a Pod is taken out of its Service.
   *
   * @default { initialDelaySeconds: 30, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 }
   */
  readonly readiness?: ProbesReadinessProps;

  /**
   * Asks what liveness asks until it succeeds once, and nothing else asks before; a Pod that does not get there is
   * restarted. Left out: none, as the initial delays of the other two cover the start.
   *
   * @default - none, as the initial delays of the other two cover the start
   */
  readonly startup?: ProbesStartupProps;
}

/** As whom the Pods run. No token of the API server is mounted; a cloud's webhook projects its own beside it. */
export interface ServiceAccountProps {
  /**
   * Name of the ServiceAccount. Left out: that of the workload.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - that of the workload
   */
  readonly name?: string;

  /**
   * Whether the ServiceAccount is among the manifests; false wants the name of one that is there.
   *
   * @default true
   */
  readonly create?: boolean;

  /**
   * Its annotations, by which a cloud knows whose role it has (eks.amazonaws.com/role-arn).
   *
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;

  /**
   * More labels of it; ours win.
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Further parts of the Pods of the Deployment and of the Job. */
export interface PodsProps {
  /**
   * More labels; ours win.
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * More annotations; ours win.
   *
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;

  /**
   * More environment variables, such as TZ or NODE_EXTRA_CA_CERTS; no settings, which belong into application, and no
   * secrets.
   *
   * @default {}
   */
  readonly environment?: Readonly<Record<string, string>>;

  /**
   * Labels that a node must have.
   *
   * @default {}
   */
  readonly nodeSelector?: Readonly<Record<string, string>>;

  /**
   * Taints of nodes that do not keep the Pods away.
   *
   * @default []
   */
  readonly tolerations?: readonly PodsTolerationsProps[];

  /**
   * Who goes first where there is no room. Left out: the cluster's default.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - the cluster's default
   */
  readonly priorityClassName?: string;

  /**
   * Whether the Pods prefer different nodes and zones; they start without, too.
   *
   * @default true
   */
  readonly spread?: boolean;

  /**
   * Whether an init container runs "stream-consumer doctor" before the consumer begins. It fails where something is
   * wrong, and never because something is away.
   *
   * @default false
   */
  readonly doctor?: boolean;

  /**
   * Whether the cluster chooses user and group of the Pods, as OpenShift does: then they name no uid, gid or fsGroup.
   *
   * @default false
   */
  readonly userFromCluster?: boolean;

  /**
   * More volumes (Volume); the kinds that Pod Security "restricted" lets in.
   *
   * Allowed: a list, each item a Volume in Kubernetes' own words.
   *
   * @default []
   */
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];

  /**
   * Where the consumer sees them (VolumeMount); not at or in a folder of ours.
   *
   * Allowed: a list, each item a VolumeMount in Kubernetes' own words.
   *
   * @default []
   */
  readonly volumeMounts?: readonly Readonly<Record<string, unknown>>[];

  /**
   * Secrets and ConfigMaps whose keys become variables (EnvFromSource). No check sees them, and a setting among them
   * wins over application.
   *
   * Allowed: a list, each item a EnvFromSource in Kubernetes' own words.
   *
   * @default []
   */
  readonly envFrom?: readonly Readonly<Record<string, unknown>>[];

  /**
   * Variables in the words of Kubernetes (EnvVar), with valueFrom, too. They come behind those of environment, which
   * has plain ones; no settings, and no secrets.
   *
   * Allowed: a list, each item a EnvVar in Kubernetes' own words.
   *
   * @default []
   */
  readonly env?: readonly Readonly<Record<string, unknown>>[];

  /**
   * Name servers, searched domains and options beside the cluster's (PodDNSConfig). Left out: none.
   *
   * Allowed: a PodDNSConfig in Kubernetes' own words.
   *
   * @default - none
   */
  readonly dnsConfig?: Readonly<Record<string, unknown>>;

  /**
   * Addresses of host names that no name server knows (HostAlias).
   *
   * Allowed: a list, each item a HostAlias in Kubernetes' own words.
   *
   * @default []
   */
  readonly hostAliases?: readonly Readonly<Record<string, unknown>>[];

  /**
   * Which nodes and neighbours the Pods want or avoid (Affinity). Left out: any.
   *
   * Allowed: a Affinity in Kubernetes' own words.
   *
   * @default - any
   */
  readonly affinity?: Readonly<Record<string, unknown>>;

  /**
   * How the Pods are spread (TopologySpreadConstraint), instead of spread; without a labelSelector the Pods of this
   * consumer count. Left out: as spread sets it.
   *
   * Allowed: a list, each item a TopologySpreadConstraint in Kubernetes' own words.
   *
   * @default - as spread sets it
   */
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];

  /**
   * Containers that end before the consumer begins (Container), after the sidecars have begun. What Pod Security
   * "restricted" asks is filled in.
   *
   * Allowed: a list, each item a Container in Kubernetes' own words.
   *
   * @default []
   */
  readonly initContainers?: readonly Readonly<Record<string, unknown>>[];

  /**
   * Containers beside the consumer (Container): they begin before it and end after it has drained, as init containers
   * with restartPolicy: Always do from Kubernetes 1.29 on. What Pod Security "restricted" asks is filled in.
   *
   * Allowed: a list, each item a Container in Kubernetes' own words.
   *
   * @default []
   */
  readonly sidecars?: readonly Readonly<Record<string, unknown>>[];
}

/** PostgreSQL's URL, user and password; user and password may be missing from the Secret. */
export interface DatabaseProps {
  /**
   * Secret with the credentials in the same namespace, made by you or by one of the two below.
   *
   * Allowed: the name of a Secret with the keys url, user and password (keys renames them).
   */
  readonly existingSecret: string;

  /**
   * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
   * it.
   *
   * @default - somebody else makes it
   */
  readonly externalSecret?: DatabaseExternalSecretProps;

  /**
   * Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it.
   *
   * @default - somebody else makes it
   */
  readonly sealedSecret?: DatabaseSealedSecretProps;

  /**
   * Keys of the Secret.
   *
   * @default { url: 'url', user: 'user', password: 'password' }
   */
  readonly keys?: DatabaseKeysProps;

  /**
   * Authorities and client certificate for PostgreSQL, the owner of the tables included, mounted as folders and read
   * at each connection. Left out: none.
   *
   * @default - none
   */
  readonly tls?: DatabaseTlsProps;

  /**
   * Who creates and upgrades the tables. onStart: the consumer. job: a Job, as the owner, so that the consumer need
   * not be able to. never: somebody else.
   *
   * @default 'onStart'
   */
  readonly migrate?: 'onStart' | 'job' | 'never';

  /**
   * Who the Job logs in as; needed with migrate: job. Left out: nobody.
   *
   * @default - nobody
   */
  readonly owner?: DatabaseOwnerProps;

  /**
   * The Job of migrate: job.
   *
   * @default { annotations: {} }
   */
  readonly job?: DatabaseJobProps;
}

/** Credentials of the brokers, needed with application.kafka.sasl, and certificates. Left out: none. */
export interface KafkaProps {
  /**
   * Secret with the SASL credentials in the same namespace, made by you or by one of the two below. Left out: there
   * is no such login.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - there is no such login
   */
  readonly existingSecret?: string;

  /**
   * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
   * it.
   *
   * @default - somebody else makes it
   */
  readonly externalSecret?: KafkaExternalSecretProps;

  /**
   * Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it.
   *
   * @default - somebody else makes it
   */
  readonly sealedSecret?: KafkaSealedSecretProps;

  /**
   * Keys of the Secret: the first two, or with oauthbearer the last two, for the token endpoint.
   *
   * @default { username: 'username', password: 'password', clientId: 'clientId', clientSecret: 'clientSecret' }
   */
  readonly keys?: KafkaKeysProps;

  /**
   * Authorities and client certificate for the brokers, mounted as folders and read at each connection. Left out:
   * none.
   *
   * @default - none
   */
  readonly tls?: KafkaTlsProps;
}

/** Credentials of application.schemaRegistry, and certificates. Left out: none. */
export interface SchemaRegistryProps {
  /**
   * Secret with the credentials in the same namespace, made by you or by one of the two below. Left out: the registry
   * wants none, or a token that is a file.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - the registry wants none, or a token that is a file
   */
  readonly existingSecret?: string;

  /**
   * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
   * it.
   *
   * @default - somebody else makes it
   */
  readonly externalSecret?: SchemaRegistryExternalSecretProps;

  /**
   * Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it.
   *
   * @default - somebody else makes it
   */
  readonly sealedSecret?: SchemaRegistrySealedSecretProps;

  /**
   * basic: the Secret has a user and a password. bearer: it has a token. With application.schemaRegistry.oauth it has
   * the client instead.
   *
   * @default 'basic'
   */
  readonly type?: 'basic' | 'bearer';

  /**
   * Keys of the Secret: those of its type, or the last two with OAuth.
   *
   * @default { username: 'username', password: 'password', token: 'token', clientId: 'clientId', clientSecret:
   * 'clientSecret' }
   */
  readonly keys?: SchemaRegistryKeysProps;

  /**
   * Authorities and client certificate for the schema registry, mounted as folders and read at each connection. Left
   * out: none.
   *
   * @default - none
   */
  readonly tls?: SchemaRegistryTlsProps;
}

/** How the container gets what the Secrets hold. */
export interface SecretsProps {
  /**
   * files: a folder that the consumer reads as a config tree, again when it changes. environment: variables; a
   * changed Secret needs a restart.
   *
   * @default 'files'
   */
  readonly as?: 'files' | 'environment';
}

/** `networkPolicy` of consumer.yaml. */
export interface NetworkPolicyProps {
  /**
   * Whether there is a NetworkPolicy; false leaves all traffic to the policies of others.
   *
   * @default true
   */
  readonly enabled?: boolean;

  /**
   * Who may ask the HTTP interface: Prometheus above all. The kubelet, which probes, needs no rule.
   *
   * @default [{ namespace: 'monitoring' }]
   */
  readonly ingress?: readonly NetworkPolicyIngressProps[];

  /**
   * `networkPolicy.egress` of consumer.yaml.
   *
   * @default { dns: [{ ports: [] }], brokers: [{ ports: [] }], database: [{ ports: [] }], schemaRegistry: [{ ports:
   * [] }], tokens: [{ ports: [] }], others: [] }
   */
  readonly egress?: NetworkPolicyEgressProps;
}

/** How the consumer is scraped and watched. */
export interface MonitoringProps {
  /**
   * Whether monitoring.k8s.yaml is written: how to scrape, and PrometheusRule, for clusters with the Prometheus
   * Operator's CRDs.
   *
   * @default true
   */
  readonly customResources?: boolean;

  /**
   * How Prometheus finds the Pods: by a custom resource of the operator, or by annotations prometheus.io/scrape on
   * the Pods, which the operator does not look at. none: the manifests do not help it.
   *
   * @default 'serviceMonitor'
   */
  readonly scrape?: 'serviceMonitor' | 'podMonitor' | 'scrapeConfig' | 'annotations' | 'none';

  /**
   * Label job that Prometheus gives to what annotations made it scrape; the alerts look for it.
   *
   * Allowed: the name of a scrape job: letters, digits, and any of _ . / -.
   *
   * @default 'kubernetes-pods'
   */
  readonly annotationJob?: string;

  /**
   * Targets in dist/prometheus/scrape.yml, each as host:port, one per Pod. Left out: the Service.
   *
   * @default []
   */
  readonly staticTargets?: readonly string[];

  /**
   * More labels for both, for operators that select by label (release: kube-prometheus-stack).
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * Time between two scrapes; the health alert has to see a failing Pod before its probe ends it.
   *
   * Allowed: 5 to 30.
   *
   * @default 15
   */
  readonly scrapeIntervalSeconds?: number;

  /**
   * Labels (cluster: eu-1) that each selector of rules and dashboards asks for, where one ruler has series of several
   * clusters: all series have to carry them there, up too. Left out: none.
   *
   * @default {}
   */
  readonly matchers?: Readonly<Record<string, string>>;

  /**
   * Who may read metrics, info and the details of the health; the status of the health stays open to the probes. Left
   * out: everybody who reaches the port.
   *
   * @default - everybody who reaches the port
   */
  readonly credentials?: MonitoringCredentialsProps;

  /**
   * HTTPS for the operational interface, probes and scrapes included. Left out: HTTP.
   *
   * @default - HTTP
   */
  readonly tls?: MonitoringTlsProps;

  /**
   * Credentials for application.spring.boot.admin.client.url. Left out: none.
   *
   * @default - none
   */
  readonly springBootAdmin?: MonitoringSpringBootAdminProps;

  /**
   * Where docs/runbooks is published: each alert's runbook_url is this, a slash and <AlertName>.md.
   *
   * Allowed: an http or https URL without a slash at its end, and without braces.
   *
   * @default 'https://github.com/stream-consumer/stream-consumer/blob/main/docs/runbooks'
   */
  readonly runbookBaseUrl?: string;

  /**
   * URL of the dashboard, as the annotation dashboard_url of every alert. Left out: no such annotation.
   *
   * Allowed: an http or https URL; braces only around a label of the alert, {{$labels.pod}}.
   *
   * @default - no such annotation
   */
  readonly dashboardUrl?: string;

  /**
   * Grafana's dashboards, which synth writes; the library's constructs have none.
   *
   * @default { enabled: true, labels: { grafana_dashboard: '1' }, annotations: {} }
   */
  readonly dashboards?: MonitoringDashboardsProps;

  /**
   * The alerts, where they differ from their defaults.
   *
   * @default { labels: {}, annotations: {}, rules: {} }
   */
  readonly alerts?: MonitoringAlertsProps;
}

/** `patches` of consumer.yaml. */
export interface PatchesProps {
  /**
   * Kind of the object. Left out: each object of the name, or each object at all.
   *
   * Allowed: a kind such as Deployment.
   *
   * @default - each object of the name, or each object at all
   */
  readonly kind?: string;

  /**
   * Its name, without the hash where it ends in one. Left out: each object of the kind.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - each object of the kind
   */
  readonly name?: string;

  /** What is changed, in this order; all of it or nothing. */
  readonly operations: readonly PatchesOperationsProps[];
}

/** Settings of the consumer, as in application.yml; they go into the ConfigMap. */
export interface ApplicationProps {
  /**
   * Where the operational interface listens.
   *
   * @default { port: 8080, address: '0.0.0.0' }
   */
  readonly server?: ApplicationServerProps;

  /** How Kafka is reached and what is read from it. */
  readonly kafka: ApplicationKafkaProps;

  /**
   * The schema registry of topics whose format is registry. Left out: no topic has this format.
   *
   * @default - no topic has this format
   */
  readonly schemaRegistry?: ApplicationSchemaRegistryProps;

  /**
   * How PostgreSQL is reached.
   *
   * @default { rdsIam: { enabled: false }, schema: 'stream_consumer', migrate: true, poolSize: 4, connectTimeout:
   * '5s', statementTimeout: '30s' }
   */
  readonly database?: ApplicationDatabaseProps;

  /**
   * How records are read and written.
   *
   * @default { startFrom: 'earliest', onGap: 'fail', onBrokenBatch: 'stop', maxUnpackedBytes: 67108864, onTopicGone:
   * 'continue', stallTimeout: '5m', maxValueBytes: 8388608, maxQueuedBytes: 2097152, maxBatchRecords: 5000 }
   */
  readonly consumer?: ApplicationConsumerProps;

  /**
   * Format of a topic, or of a template's: json, registry (a schema id comes first), text, bytes; [registry, json]:
   * the first byte decides. A map: of key and value, or a schema in a file. Left out: json.
   *
   * @default {}
   */
  readonly formats?: Readonly<Record<string, 'json' | 'registry' | 'text' | 'bytes' | readonly ('json' | 'registry' | 'text' | 'bytes')[] | ApplicationFormatsProps>>;

  /**
   * How records become rows.
   *
   * @default { keyEncoding: 'text', onDroppedRows: 'fail' }
   */
  readonly records?: ApplicationRecordsProps;

  /**
   * Tables of yours that take the records of topics. Left out: all records go into the table records.
   *
   * @default []
   */
  readonly tables?: readonly ApplicationTablesProps[];

  /**
   * What becomes of records that PostgreSQL cannot store.
   *
   * @default { to: 'table', maxRatio: 0.5 }
   */
  readonly deadLetters?: ApplicationDeadLettersProps;

  /**
   * How the process ends.
   *
   * @default { timeout: '25s' }
   */
  readonly shutdown?: ApplicationShutdownProps;

  /**
   * What is logged.
   *
   * @default { level: 'info' }
   */
  readonly logging?: ApplicationLoggingProps;

  /**
   * What the operational interface shows.
   *
   * @default { server: {}, endpoints: { web: { ... } }, security: {}, endpoint: { health: { ... } }, health: { kafka:
   * { ... }, diskspace: { ... } }, info: { os: { ... }, process: { ... } }, metrics: { tags: { ... } }, page: {
   * enabled: true } }
   */
  readonly management?: ApplicationManagementProps;

  /**
   * Shown by /actuator/info under this name; values are texts, lists of them, or maps.
   *
   * @default {}
   */
  readonly info?: Readonly<Record<string, unknown>>;

  /**
   * Spring's own settings.
   *
   * @default { boot: { admin: { client: { url: [], period: '10s', registerOnce: true, autoDeregistration: true,
   * instance: { sendCredentials: false, metadata: {} } } } } }
   */
  readonly spring?: ApplicationSpringProps;
}

/** KEDA: as many Pods as the group's lag asks for. Left out: not used. */
export interface ScalingKedaProps {
  /**
   * Fewest Pods. 0 ends the last Pod when there is no lag; metrics and alerts then have nothing to look at.
   *
   * Allowed: 0 to 1000.
   *
   * @default 1
   */
  readonly minReplicas?: number;

  /**
   * Most Pods; not above partitions, since more would wait idle. Left out: partitions.
   *
   * Allowed: 1 to 1000.
   *
   * @default - partitions
   */
  readonly maxReplicas?: number;

  /**
   * Records behind that one Pod is for: lag divided by this is the wanted number of Pods.
   *
   * Allowed: 1 to 1000000000.
   *
   * @default 10000
   */
  readonly lagPerReplica?: number;

  /**
   * Records behind beyond which the first Pod is started; matters only with minReplicas: 0.
   *
   * Allowed: 0 to 1000000000.
   *
   * @default 0
   */
  readonly activationLag?: number;

  /**
   * Time between two queries of the lag.
   *
   * Allowed: 1 to 3600.
   *
   * @default 30
   */
  readonly pollingIntervalSeconds?: number;

  /**
   * Time without lag after which the last Pod ends; matters only with minReplicas: 0.
   *
   * Allowed: 0 to 86400.
   *
   * @default 300
   */
  readonly cooldownSeconds?: number;

  /**
   * How fast the number of Pods may change; each change is a rebalance of the group.
   *
   * @default { scaleUpWindowSeconds: 60, scaleDownWindowSeconds: 600, scaleDownPeriodSeconds: 300 }
   */
  readonly behavior?: ScalingKedaBehaviorProps;
}

/** HorizontalPodAutoscaler: by CPU, memory or an external metric. Left out: not used. */
export interface ScalingHpaProps {
  /**
   * Fewest Pods.
   *
   * Allowed: 1 to 1000.
   *
   * @default 1
   */
  readonly minReplicas?: number;

  /**
   * Most Pods; not above partitions, since more would wait idle. Left out: partitions.
   *
   * Allowed: 1 to 1000.
   *
   * @default - partitions
   */
  readonly maxReplicas?: number;

  /**
   * Percent of the requested CPU to aim at. Left out: does not count.
   *
   * Allowed: 1 to 1000.
   *
   * @default - does not count
   */
  readonly cpuPercent?: number;

  /**
   * Percent of the requested memory to aim at. Left out: does not count.
   *
   * Allowed: 1 to 1000.
   *
   * @default - does not count
   */
  readonly memoryPercent?: number;

  /**
   * A metric from outside, such as the lag. Left out: does not count.
   *
   * @default - does not count
   */
  readonly external?: ScalingHpaExternalProps;

  /**
   * How fast the number of Pods may change; each change is a rebalance of the group.
   *
   * @default { scaleUpWindowSeconds: 60, scaleDownWindowSeconds: 600, scaleDownPeriodSeconds: 300 }
   */
  readonly behavior?: ScalingHpaBehaviorProps;
}

/** What the scheduler sets aside for a Pod. */
export interface ResourcesRequestsProps {
  /**
   * CPU that the scheduler sets aside for a Pod.
   *
   * Allowed: an amount of CPU in quotes, such as '250m' or '1'.
   *
   * @default '100m'
   */
  readonly cpu?: string;

  /**
   * Memory that the scheduler sets aside; left out: the limit's.
   *
   * Allowed: a size such as 256Mi or 1Gi.
   *
   * @default - the limit's
   */
  readonly memory?: string;
}

/** What a Pod may use at most. */
export interface ResourcesLimitsProps {
  /**
   * CPU beyond which a Pod is slowed down; the consumer runs JavaScript on one core.
   *
   * Allowed: an amount of CPU in quotes, such as '250m' or '1'.
   *
   * @default '1'
   */
  readonly cpu?: string;

  /**
   * Memory beyond which a Pod is killed; V8's heap and the memory alerts are computed from it.
   *
   * Allowed: a size such as 256Mi or 1Gi.
   *
   * @default '512Mi'
   */
  readonly memory?: string;
}

/** When a Pod is restarted. */
export interface ProbesLivenessProps {
  /**
   * Time from the container's start to the first question.
   *
   * Allowed: 0 to 3600.
   *
   * @default 60
   */
  readonly initialDelaySeconds?: number;

  /**
   * Time between two questions.
   *
   * Allowed: 1 to 3600.
   *
   * @default 30
   */
  readonly periodSeconds?: number;

  /**
   * Time that an answer may take; at most the period.
   *
   * Allowed: 1 to 3600.
   *
   * @default 10
   */
  readonly timeoutSeconds?: number;

  /**
   * Failures in a row after which the Pod counts as failed.
   *
   * Allowed: 1 to 100.
   *
   * @default 3
   */
  readonly failureThreshold?: number;
}

/** When a Pod is taken out of its Service. */
export interface ProbesReadinessProps {
  /**
   * Time from the container's start to the first question.
   *
   * Allowed: 0 to 3600.
   *
   * @default 30
   */
  readonly initialDelaySeconds?: number;

  /**
   * Time between two questions.
   *
   * Allowed: 1 to 3600.
   *
   * @default 10
   */
  readonly periodSeconds?: number;

  /**
   * Time that an answer may take; at most the period.
   *
   * Allowed: 1 to 3600.
   *
   * @default 5
   */
  readonly timeoutSeconds?: number;

  /**
   * Failures in a row after which the Pod counts as failed.
   *
   * Allowed: 1 to 100.
   *
   * @default 3
   */
  readonly failureThreshold?: number;
}

/**
 * Asks what liveness asks until it succeeds once, and nothing else asks before; a Pod that does not get there is
 * restarted. Left out: none, as the initial delays of the other two cover the start.
 */
export interface ProbesStartupProps {
  /**
   * Time from the container's start to the first question.
   *
   * Allowed: 0 to 3600.
   *
   * @default 0
   */
  readonly initialDelaySeconds?: number;

  /**
   * Time between two questions.
   *
   * Allowed: 1 to 3600.
   *
   * @default 5
   */
  readonly periodSeconds?: number;

  /**
   * Time that an answer may take; at most the period.
   *
   * Allowed: 1 to 3600.
   *
   * @default 5
   */
  readonly timeoutSeconds?: number;

  /**
   * Failures in a row after which the Pod counts as failed.
   *
   * Allowed: 1 to 100.
   *
   * @default 12
   */
  readonly failureThreshold?: number;
}

/** `pods.tolerations` of consumer.yaml. */
export interface PodsTolerationsProps {
  /**
   * Key of the taint; any needs the operator Exists. Left out: any.
   *
   * Allowed: a label's name, such as team or example.com/team.
   *
   * @default - any
   */
  readonly key?: string;

  /**
   * Whether the value counts.
   *
   * @default 'Equal'
   */
  readonly operator?: 'Equal' | 'Exists';

  /**
   * Value of the taint. Left out: none.
   *
   * Allowed: a label's value: at most 63 letters, digits, dashes, underscores and dots.
   *
   * @default - none
   */
  readonly value?: string;

  /**
   * What the taint does. Left out: any.
   *
   * @default - any
   */
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

  /**
   * Time to stay, with NoExecute. Left out: for ever.
   *
   * Allowed: 0 to 86400.
   *
   * @default - for ever
   */
  readonly tolerationSeconds?: number;
}

/**
 * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
 * it.
 */
export interface DatabaseExternalSecretProps {
  /**
   * Name of the store, which somebody has set up in the cluster.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly store: string;

  /**
   * Whether the store is for the namespace or for the cluster.
   *
   * @default 'ClusterSecretStore'
   */
  readonly storeKind?: 'SecretStore' | 'ClusterSecretStore';

  /** What the store calls the secret; each of its properties becomes a key of the Secret. */
  readonly remoteKey: string;

  /**
   * Time between two reads of the store.
   *
   * Allowed: a whole number and one of s, m, h, such as 1h.
   *
   * @default '1h'
   */
  readonly refreshInterval?: string;
}

/** Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it. */
export interface DatabaseSealedSecretProps {
  /** By key of the Secret: its value as kubeseal encrypted it. */
  readonly encryptedData: Readonly<Record<string, string>>;

  /**
   * Scope that kubeseal encrypted the values for: what may use them.
   *
   * @default 'strict'
   */
  readonly scope?: 'strict' | 'namespace-wide' | 'cluster-wide';
}

/** Keys of the Secret. */
export interface DatabaseKeysProps {
  /**
   * Key of the Secret; left out: url.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'url'
   */
  readonly url?: string;

  /**
   * Key of the Secret; left out: user.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'user'
   */
  readonly user?: string;

  /**
   * Key of the Secret; left out: password.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'password'
   */
  readonly password?: string;
}

/**
 * Authorities and client certificate for PostgreSQL, the owner of the tables included, mounted as folders and read at
 * each connection. Left out: none.
 */
export interface DatabaseTlsProps {
  /**
   * Authorities to trust, as PEM. Left out: those of Node.js.
   *
   * @default - those of Node.js
   */
  readonly ca?: DatabaseTlsCaProps;

  /**
   * The client's certificate and its key, as PEM. Left out: none.
   *
   * @default - none
   */
  readonly clientCertificate?: DatabaseTlsClientCertificateProps;
}

/** Who the Job logs in as; needed with migrate: job. Left out: nobody. */
export interface DatabaseOwnerProps {
  /**
   * Secret with the owner's credentials in the same namespace, made by you or by one of the two below.
   *
   * Allowed: the name of a Secret with the keys url, user and password (keys renames them).
   */
  readonly existingSecret: string;

  /**
   * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
   * it.
   *
   * @default - somebody else makes it
   */
  readonly externalSecret?: DatabaseOwnerExternalSecretProps;

  /**
   * Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it.
   *
   * @default - somebody else makes it
   */
  readonly sealedSecret?: DatabaseOwnerSealedSecretProps;

  /**
   * Keys of the Secret.
   *
   * @default { url: 'url', user: 'user', password: 'password' }
   */
  readonly keys?: DatabaseOwnerKeysProps;
}

/** The Job of migrate: job. */
export interface DatabaseJobProps {
  /**
   * Its annotations, such as argocd.argoproj.io/sync-options. Others make no new Job.
   *
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
 * it.
 */
export interface KafkaExternalSecretProps {
  /**
   * Name of the store, which somebody has set up in the cluster.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly store: string;

  /**
   * Whether the store is for the namespace or for the cluster.
   *
   * @default 'ClusterSecretStore'
   */
  readonly storeKind?: 'SecretStore' | 'ClusterSecretStore';

  /** What the store calls the secret; each of its properties becomes a key of the Secret. */
  readonly remoteKey: string;

  /**
   * Time between two reads of the store.
   *
   * Allowed: a whole number and one of s, m, h, such as 1h.
   *
   * @default '1h'
   */
  readonly refreshInterval?: string;
}

/** Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it. */
export interface KafkaSealedSecretProps {
  /** By key of the Secret: its value as kubeseal encrypted it. */
  readonly encryptedData: Readonly<Record<string, string>>;

  /**
   * Scope that kubeseal encrypted the values for: what may use them.
   *
   * @default 'strict'
   */
  readonly scope?: 'strict' | 'namespace-wide' | 'cluster-wide';
}

/** Keys of the Secret: the first two, or with oauthbearer the last two, for the token endpoint. */
export interface KafkaKeysProps {
  /**
   * Key of the Secret; left out: username.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'username'
   */
  readonly username?: string;

  /**
   * Key of the Secret; left out: password.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'password'
   */
  readonly password?: string;

  /**
   * Key of the Secret; left out: clientId.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'clientId'
   */
  readonly clientId?: string;

  /**
   * Key of the Secret; left out: clientSecret.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'clientSecret'
   */
  readonly clientSecret?: string;
}

/** Authorities and client certificate for the brokers, mounted as folders and read at each connection. Left out: none. */
export interface KafkaTlsProps {
  /**
   * Authorities to trust, as PEM. Left out: those of Node.js.
   *
   * @default - those of Node.js
   */
  readonly ca?: KafkaTlsCaProps;

  /**
   * The client's certificate and its key, as PEM. Left out: none.
   *
   * @default - none
   */
  readonly clientCertificate?: KafkaTlsClientCertificateProps;
}

/**
 * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
 * it.
 */
export interface SchemaRegistryExternalSecretProps {
  /**
   * Name of the store, which somebody has set up in the cluster.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly store: string;

  /**
   * Whether the store is for the namespace or for the cluster.
   *
   * @default 'ClusterSecretStore'
   */
  readonly storeKind?: 'SecretStore' | 'ClusterSecretStore';

  /** What the store calls the secret; each of its properties becomes a key of the Secret. */
  readonly remoteKey: string;

  /**
   * Time between two reads of the store.
   *
   * Allowed: a whole number and one of s, m, h, such as 1h.
   *
   * @default '1h'
   */
  readonly refreshInterval?: string;
}

/** Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it. */
export interface SchemaRegistrySealedSecretProps {
  /** By key of the Secret: its value as kubeseal encrypted it. */
  readonly encryptedData: Readonly<Record<string, string>>;

  /**
   * Scope that kubeseal encrypted the values for: what may use them.
   *
   * @default 'strict'
   */
  readonly scope?: 'strict' | 'namespace-wide' | 'cluster-wide';
}

/** Keys of the Secret: those of its type, or the last two with OAuth. */
export interface SchemaRegistryKeysProps {
  /**
   * Key of the Secret; left out: username.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'username'
   */
  readonly username?: string;

  /**
   * Key of the Secret; left out: password.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'password'
   */
  readonly password?: string;

  /**
   * Key of the Secret; left out: token.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'token'
   */
  readonly token?: string;

  /**
   * Key of the Secret; left out: clientId.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'clientId'
   */
  readonly clientId?: string;

  /**
   * Key of the Secret; left out: clientSecret.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'clientSecret'
   */
  readonly clientSecret?: string;
}

/**
 * Authorities and client certificate for the schema registry, mounted as folders and read at each connection. Left
 * out: none.
 */
export interface SchemaRegistryTlsProps {
  /**
   * Authorities to trust, as PEM. Left out: those of Node.js.
   *
   * @default - those of Node.js
   */
  readonly ca?: SchemaRegistryTlsCaProps;

  /**
   * The client's certificate and its key, as PEM. Left out: none.
   *
   * @default - none
   */
  readonly clientCertificate?: SchemaRegistryTlsClientCertificateProps;
}

/** Who may ask: addresses, or Pods. */
export interface NetworkPolicyIngressProps {
  /**
   * Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.
   *
   * Allowed: a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32.
   *
   * @default - any address
   */
  readonly cidr?: string;

  /**
   * Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.
   *
   * Allowed: the name of a namespace: at most 63 lower-case letters, digits and dashes.
   *
   * @default - the consumer's own where podLabels are given, otherwise any place
   */
  readonly namespace?: string;

  /**
   * Labels of the Pods. Left out: all Pods of the namespace.
   *
   * @default - all Pods of the namespace
   */
  readonly podLabels?: Readonly<Record<string, string>>;
}

/** `networkPolicy.egress` of consumer.yaml. */
export interface NetworkPolicyEgressProps {
  /**
   * Where name servers may be. Left out: anywhere, at 53.
   *
   * @default [{ ports: [] }]
   */
  readonly dns?: readonly NetworkPolicyEgressDnsProps[];

  /**
   * Where the brokers may be. Left out: anywhere, at the ports of application.kafka.brokers.
   *
   * @default [{ ports: [] }]
   */
  readonly brokers?: readonly NetworkPolicyEgressBrokersProps[];

  /**
   * Where PostgreSQL may be. Left out: anywhere, at 5432.
   *
   * @default [{ ports: [] }]
   */
  readonly database?: readonly NetworkPolicyEgressDatabaseProps[];

  /**
   * Where the schema registry may be. Left out: anywhere, at the ports of application.schemaRegistry.url.
   *
   * @default [{ ports: [] }]
   */
  readonly schemaRegistry?: readonly NetworkPolicyEgressSchemaRegistryProps[];

  /**
   * Where the servers that give tokens for logins at the brokers, the schema registry and PostgreSQL may be. Left
   * out: anywhere, at the ports of the token endpoints in application, or with aws-msk-iam and database.rdsIam 443,
   * AWS's STS.
   *
   * @default [{ ports: [] }]
   */
  readonly tokens?: readonly NetworkPolicyEgressTokensProps[];

  /**
   * Whatever else the Pods may reach. Left out: nothing.
   *
   * @default []
   */
  readonly others?: readonly NetworkPolicyEgressOthersProps[];
}

/**
 * Who may read metrics, info and the details of the health; the status of the health stays open to the probes. Left
 * out: everybody who reaches the port.
 */
export interface MonitoringCredentialsProps {
  /**
   * Secret with the credential, made by you in the same namespace.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * bearer: the Secret has a token. basic: it has a username and a password.
   *
   * @default 'bearer'
   */
  readonly type?: 'bearer' | 'basic';

  /**
   * `monitoring.credentials.keys` of consumer.yaml.
   *
   * @default { token: 'token', username: 'username', password: 'password' }
   */
  readonly keys?: MonitoringCredentialsKeysProps;
}

/** HTTPS for the operational interface, probes and scrapes included. Left out: HTTP. */
export interface MonitoringTlsProps {
  /**
   * Secret of type kubernetes.io/tls in the same namespace, such as cert-manager makes and renews.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * `monitoring.tls.keys` of consumer.yaml.
   *
   * @default { certificate: 'tls.crt', privateKey: 'tls.key', authority: 'ca.crt' }
   */
  readonly keys?: MonitoringTlsKeysProps;

  /**
   * Whether a scrape verifies the certificate: by the authority in the Secret, for the name <name>.<namespace>.svc.
   * Probes never do.
   *
   * @default true
   */
  readonly verify?: boolean;
}

/** Credentials for application.spring.boot.admin.client.url. Left out: none. */
export interface MonitoringSpringBootAdminProps {
  /**
   * Secret with user and password at the server, made by you in the same namespace.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * `monitoring.springBootAdmin.keys` of consumer.yaml.
   *
   * @default { username: 'username', password: 'password' }
   */
  readonly keys?: MonitoringSpringBootAdminKeysProps;
}

/** Grafana's dashboards, which synth writes; the library's constructs have none. */
export interface MonitoringDashboardsProps {
  /**
   * Whether dist/grafana and the ConfigMap in grafana.k8s.yaml are written; several copies in one Grafana are one
   * dashboard, so one is enough.
   *
   * @default true
   */
  readonly enabled?: boolean;

  /**
   * Labels by which Grafana's sidecar finds the ConfigMap.
   *
   * @default { grafana_dashboard: '1' }
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * Annotations of the ConfigMap, such as the one by which the sidecar takes a folder (grafana_folder).
   *
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The alerts, where they differ from their defaults. */
export interface MonitoringAlertsProps {
  /**
   * More labels for every alert: a team, a route.
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * More annotations for every alert.
   *
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;

  /**
   * Changes by the name of an alert; docs/monitoring.md lists all, with their defaults.
   *
   * @default {}
   */
  readonly rules?: Readonly<Record<string, MonitoringAlertsRulesProps>>;
}

/** `patches.operations` of consumer.yaml. */
export interface PatchesOperationsProps {
  /** What is done (RFC 6902). */
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';

  /**
   * Where (RFC 6901); - is the end of a list.
   *
   * Allowed: a JSON pointer such as /spec/template/spec/hostAliases; ~1 is a slash within a key, ~0 a tilde.
   */
  readonly path: string;

  /**
   * Where the value of move and copy is. Left out: none.
   *
   * Allowed: a JSON pointer such as /spec/template/spec/hostAliases; ~1 is a slash within a key, ~0 a tilde.
   *
   * @default - none
   */
  readonly from?: string;

  /**
   * The value of add, replace and test. Left out: none.
   *
   * @default - none
   */
  readonly value?: unknown;
}

/** Where the operational interface listens. */
export interface ApplicationServerProps {
  /**
   * Port of the operational HTTP interface; 0 takes any free one and logs it.
   *
   * Allowed: 0 to 65535.
   *
   * @default 8080
   */
  readonly port?: number;

  /**
   * Address the HTTP interface listens on.
   *
   * @default '0.0.0.0'
   */
  readonly address?: string;

  /**
   * HTTPS for the operational interface; the files are read again when they change. Left out: HTTP.
   *
   * @default - HTTP
   */
  readonly ssl?: ApplicationServerSslProps;
}

/** How Kafka is reached and what is read from it. */
export interface ApplicationKafkaProps {
  /** Bootstrap brokers, each as host:port. */
  readonly brokers: readonly string[];

  /**
   * Topics, or templates such as shop.{schema}.{table}, whose records go into the table records; a name has to exist.
   * Left out: those of tables are the only ones that are read.
   *
   * @default []
   */
  readonly topics?: readonly string[];

  /** Consumer group; with topic and partition it names the stored position. */
  readonly groupId: string;

  /**
   * How the process joins the group. consumer: by KIP-848, where brokers assign the partitions and decide when a
   * silent member is gone (45 s by default); by classic where they lack it (before Kafka 4.0).
   *
   * @default 'classic'
   */
  readonly groupProtocol?: 'classic' | 'consumer';

  /**
   * Name of this process in the group, unique there. Killed and started again under it, the process takes its place
   * at once. Left out: after the session time-out; manifests set the uid of the Pod.
   *
   * Allowed: 1 to 249 letters, digits, dots, underscores and dashes, not . or ...
   *
   * @default - after the session time-out
   */
  readonly groupInstanceId?: string;

  /**
   * Name of this client in the brokers' logs and quotas.
   *
   * @default 'stream-consumer'
   */
  readonly clientId?: string;

  /**
   * Silence after which the group gives the partitions of a member to others, with kafka.groupProtocol: classic.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '10s'
   */
  readonly sessionTimeout?: string;

  /**
   * How often the cluster is asked for topics that templates of kafka.topics and tables take. From 1s to 5m.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '30s'
   */
  readonly topicRefresh?: string;

  /**
   * Bytes that a broker gathers before it answers a fetch, as fetch.min.bytes of Kafka's consumer. More make larger
   * transactions, and records wait for each other, kafka.fetchMaxWait at most.
   *
   * Allowed: 1 to 52428800.
   *
   * @default 1
   */
  readonly fetchMinBytes?: number;

  /**
   * How long a broker waits for kafka.fetchMinBytes, as fetch.max.wait.ms of Kafka's consumer. A partition that moves
   * may wait for as long. From 10ms to 5s.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '1s'
   */
  readonly fetchMaxWait?: string;

  /**
   * Least time between two fetches from a broker whose logs are read to their ends: records of a steady load gather.
   * Each further topic of an answer adds a fortieth, up to 1s. From 0ms to 1s.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '100ms'
   */
  readonly fetchLinger?: string;

  /**
   * TLS to the brokers; their certificates have to be trusted and to name their hosts.
   *
   * @default false
   */
  readonly ssl?: boolean;

  /**
   * Where the credentials and certificates come from, named where a broker refuses them; the manifests write the
   * Secret and its keys. Left out: nothing is named.
   *
   * @default - nothing is named
   */
  readonly credentialsFrom?: string;

  /**
   * Certificates for TLS to the brokers; the files are read anew at each connection. Left out: the authorities of
   * Node.js, and no client certificate.
   *
   * @default - the authorities of Node.js, and no client certificate
   */
  readonly tls?: ApplicationKafkaTlsProps;

  /**
   * SASL authentication with the brokers; left out: none.
   *
   * @default - none
   */
  readonly sasl?: ApplicationKafkaSaslProps;
}

/** The schema registry of topics whose format is registry. Left out: no topic has this format. */
export interface ApplicationSchemaRegistryProps {
  /**
   * Where the registry is: one URL, or several of the same registry, of which the next is asked when one does not
   * answer. With Apicurio the path is /apis/ccompat/v7.
   *
   * Allowed: an http or https URL without user, query and fragment, such as https://registry.example.com, or a list
   * of them.
   */
  readonly url: string | readonly string[];

  /**
   * User at the registry, for HTTP Basic; at Confluent Cloud the registry's API key. Left out: none. Left out: it
   * comes from the Secret with the password.
   *
   * Allowed: a text without colons that is not empty.
   *
   * @default - none
   */
  readonly username?: string;

  /**
   * Where the bearer token for the registry comes from. Left out: for another login.
   *
   * @default - for another login
   */
  readonly oauth?: ApplicationSchemaRegistryOauthProps;

  /**
   * Where the credentials and certificates come from, named where the registry refuses them; the manifests write the
   * Secret and its keys. Left out: nothing is named.
   *
   * @default - nothing is named
   */
  readonly credentialsFrom?: string;

  /**
   * Confluent's context in which schema ids count. Left out: the registry's default context.
   *
   * Allowed: a context's name without the dot before it: letters, digits, dots, underscores and dashes.
   *
   * @default - the registry's default context
   */
  readonly context?: string;

  /**
   * Time to wait for an answer of the registry before the next URL is asked.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '5s'
   */
  readonly timeout?: string;

  /**
   * Certificates for TLS to the registry; the files are read anew at each connection. Left out: the authorities of
   * Node.js, and no client certificate.
   *
   * @default - the authorities of Node.js, and no client certificate
   */
  readonly tls?: ApplicationSchemaRegistryTlsProps;
}

/** How PostgreSQL is reached. */
export interface ApplicationDatabaseProps {
  /**
   * Role to log in as; left out: the URL's.
   *
   * @default - the URL's
   */
  readonly user?: string;

  /**
   * Where the credentials and certificates come from, named where PostgreSQL refuses them; the manifests write the
   * Secret and its keys. Left out: nothing is named.
   *
   * @default - nothing is named
   */
  readonly credentialsFrom?: string;

  /**
   * TLS to PostgreSQL: the certificate of the server has to be trusted and to name the host. The files are read at
   * each new connection, and win over those of the URL. Left out: as in the URL.
   *
   * @default - as in the URL
   */
  readonly tls?: ApplicationDatabaseTlsProps;

  /**
   * Login at Amazon RDS and Aurora by IAM.
   *
   * @default { enabled: false }
   */
  readonly rdsIam?: ApplicationDatabaseRdsIamProps;

  /**
   * Schema of the tables; created, with them, when absent.
   *
   * Allowed: a lower-case identifier: 1 to 63 letters, digits and underscores, no digit first.
   *
   * @default 'stream_consumer'
   */
  readonly schema?: string;

  /**
   * Whether the consumer creates and upgrades its tables when it starts. false: it checks that they are there and
   * what it knows, for `stream-consumer migrate` by a role that owns them.
   *
   * @default true
   */
  readonly migrate?: boolean;

  /**
   * Connections for writing: as many transactions run at once.
   *
   * Allowed: 1 to 100.
   *
   * @default 4
   */
  readonly poolSize?: number;

  /**
   * Time to wait for a connection.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '5s'
   */
  readonly connectTimeout?: string;

  /**
   * Time after which PostgreSQL gives up a statement of ours.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '30s'
   */
  readonly statementTimeout?: string;
}

/** How records are read and written. */
export interface ApplicationConsumerProps {
  /**
   * Where a topic without a stored position starts: its beginning, its end, or Kafka's committed offset, else its
   * beginning. Partitions added later, or without a leader at first, start at their beginning.
   *
   * @default 'earliest'
   */
  readonly startFrom?: 'earliest' | 'latest' | 'committed';

  /**
   * What to do when records were deleted before they were read: report which and stop, or let a topic of a template
   * wait; or record the gap in the table gaps and go on.
   *
   * @default 'fail'
   */
  readonly onGap?: 'fail' | 'skip';

  /**
   * At a batch that cannot be read: stop its partition alone and read it again every 10 s; or, if it is the same
   * again and its head is whole, record its offsets in the table gaps and go on behind it.
   *
   * @default 'stop'
   */
  readonly onBrokenBatch?: 'stop' | 'skip';

  /**
   * Bytes that a compressed batch may become, as they are counted while it is unpacked; a larger one cannot be read.
   * So much memory has to be free beside an eighth of the limit.
   *
   * Allowed: 65536 to 1073741824.
   *
   * @default 67108864
   */
  readonly maxUnpackedBytes?: number;

  /**
   * What to do when Kafka does not have a topic any more that was read: go on with the others and name it in the
   * health, a metric and an alert, or stop.
   *
   * @default 'continue'
   */
  readonly onTopicGone?: 'continue' | 'stop';

  /**
   * Time after which the health is DOWN while Kafka and PostgreSQL are reachable and yet nothing is written of what
   * waits, nothing is known of a log, or the group is silent.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '5m'
   */
  readonly stallTimeout?: string;

  /**
   * Largest value that goes into records; a larger one is a dead letter.
   *
   * Allowed: 1 to 268435455.
   *
   * @default 8388608
   */
  readonly maxValueBytes?: number;

  /**
   * Fetched bytes that may wait for PostgreSQL, per partition, and that one transaction takes of them; beyond it the
   * partition is paused. Less may wait where many partitions share the memory.
   *
   * Allowed: 65536 to 1073741824.
   *
   * @default 2097152
   */
  readonly maxQueuedBytes?: number;

  /**
   * Records that one transaction writes at most.
   *
   * Allowed: 1 to 1000000.
   *
   * @default 5000
   */
  readonly maxBatchRecords?: number;
}

/** `application.formats` of consumer.yaml. */
export interface ApplicationFormatsProps {
  /**
   * Format of the keys. Left out: text where a table takes the key, and JSON where it takes fields of it.
   *
   * Allowed: one of json, registry, text, bytes; or a list of registry and another one; or a map of avro, or of
   * protobuf and message.
   *
   * @default - text where a table takes the key, and JSON where it takes fields of it
   */
  readonly key?: 'json' | 'registry' | 'text' | 'bytes' | readonly ('json' | 'registry' | 'text' | 'bytes')[] | ApplicationFormatsKeyProps;

  /**
   * Format of the values. Left out: json.
   *
   * Allowed: one of json, registry, text, bytes; or a list of registry and another one; or a map of avro, or of
   * protobuf and message.
   *
   * @default - json
   */
  readonly value?: 'json' | 'registry' | 'text' | 'bytes' | readonly ('json' | 'registry' | 'text' | 'bytes')[] | ApplicationFormatsValueProps;
}

/** How records become rows. */
export interface ApplicationRecordsProps {
  /**
   * How keys are stored in records.key: as text, where a key that is not text is a dead letter, or all of them as
   * base64.
   *
   * @default 'text'
   */
  readonly keyEncoding?: 'text' | 'base64';

  /**
   * When a row trigger of yours on the table records drops rows, which no table has then: stop before COMMIT, or let
   * a topic of a template wait; or commit the others, and log and count the dropped ones.
   *
   * @default 'fail'
   */
  readonly onDroppedRows?: 'fail' | 'allow';
}

/** A table of yours, and the topics whose records go into it. */
export interface ApplicationTablesProps {
  /**
   * Topic, or topics, whose records go into the table; each has to exist. A name in braces, as in
   * shop.{schema}.{table}, takes any part between dots.
   *
   * Allowed: a topic's name: 1 to 249 letters, digits, dots, underscores and dashes; or a template of it, such as
   * shop.{schema}.{table}, or a list of them.
   */
  readonly topic: string | readonly string[];

  /**
   * Topics that the templates of topic do not take: names and templates. Left out: they take all.
   *
   * Allowed: a topic's name: 1 to 249 letters, digits, dots, underscores and dashes; or a template of it, such as
   * shop.{schema}.{table}, or a list of them.
   *
   * @default - they take all
   */
  readonly except?: string | readonly string[];

  /**
   * Table that takes a row of each record; it has to exist. The first dot ends the name of the schema, whatever
   * search_path is. {table} is the part of topic with that name.
   *
   * Allowed: schema.table, both names as the catalog has them, capitals included and without quotes.
   */
  readonly table: string;

  /**
   * Columns that rows are replaced and deleted by; a unique index is needed over just them. primary: those of the
   * primary key. What the value lacks comes from the record key. Left out: rows are appended.
   *
   * Allowed: primary; a column, named as in the catalog; or a list of them, each once.
   *
   * @default - rows are appended
   */
  readonly key?: string | readonly string[];

  /**
   * What a record does to a row that has its key: replace it, or keep it as it is. Only with key. Left out: replace.
   *
   * @default - replace
   */
  readonly existing?: 'replace' | 'keep';

  /**
   * Field of the value, such as deleted, that is true where the record deletes the row of its key, as a tombstone
   * does. never: neither deletes. Only with key. Left out: tombstones alone delete.
   *
   * Allowed: never; or the path of a field, such as meta.deleted, or /a.b for odd names.
   *
   * @default - tombstones alone delete
   */
  readonly delete?: string;

  /**
   * Column that says which row of a key is newer, such as updated_at: an older record neither replaces a row nor
   * deletes it by the field of delete. Only with key. Left out: the last record counts.
   *
   * Allowed: a column, named as in the catalog.
   *
   * @default - the last record counts
   */
  readonly version?: string;

  /**
   * What is around each row: debezium, its change events; debezium-flat, the same by ExtractNewRecordState; connect,
   * an object of schema and payload. Left out: the value is the row.
   *
   * @default - the value is the row
   */
  readonly envelope?: 'debezium' | 'debezium-flat' | 'connect';

  /**
   * What Debezium sends for a large value that an update did not change: the column keeps what it has. Only with its
   * envelopes. Left out: __debezium_unavailable_value.
   *
   * Allowed: the text that the connector has as unavailable.value.placeholder, with its prefix hex: where it has one.
   *
   * @default - __debezium_unavailable_value
   */
  readonly unavailableValue?: string;

  /**
   * Values of a field, of $header.<name> or of $op, one of which a record has for the table to take it; of several
   * names, each has to match. Left out: the table takes all records of its topics.
   *
   * @default - the table takes all records of its topics
   */
  readonly when?: Readonly<Record<string, string | number | boolean | readonly (string | number | boolean)[]>>;

  /**
   * What becomes of a record that the when of no table of its topic matches: it is counted in
   * consumer_records_unmatched_total, or it is a dead letter. Left out: count.
   *
   * @default - count
   */
  readonly unmatched?: 'count' | 'dead-letter';

  /**
   * Topics of a template whose table does not exist: they wait for it, with the alert TopicWaits, or without it, as
   * nobody wants them. Left out: wait.
   *
   * @default - wait
   */
  readonly missing?: 'wait' | 'ignore';

  /**
   * What becomes of a topic of a template whose records have a field that no column takes: the field is logged and
   * counted, or the topic waits for the column. Left out: log.
   *
   * @default - log
   */
  readonly unmapped?: 'log' | 'wait';

  /**
   * Whether this group may fill the table although another group of database.schema does from the same topic: each
   * writes each record. Left out: no; a group new to it is refused with GROUP_MEETS_ANOTHER.
   *
   * @default - no
   */
  readonly sharedWithGroups?: boolean;

  /**
   * Field that a column takes which columns does not name: the one of the same name, or that name in camelCase, so
   * that customer_id takes customerId.
   *
   * @default 'same'
   */
  readonly fields?: 'same' | 'camelCase';

  /**
   * Columns, as in the catalog, not from the field of their name: a path, $value, $key, $key.<field>, $header.<name>,
   * $topic, $partition, $offset, $timestamp, $op or $source.<field>. false: never written.
   *
   * @default {}
   */
  readonly columns?: Readonly<Record<string, string | ApplicationTablesColumnsProps | false>>;
}

/** What becomes of records that PostgreSQL cannot store. */
export interface ApplicationDeadLettersProps {
  /**
   * Where records go that PostgreSQL cannot store: the table dead_letters, a Kafka topic, or both. Only the table can
   * be listed and replayed.
   *
   * @default 'table'
   */
  readonly to?: 'table' | 'topic' | 'both';

  /**
   * Topic for dead letters; it has to exist. Left out: the name of the topic the record came from, followed by
   * .dead-letters.
   *
   * Allowed: a topic's name: 1 to 249 letters, digits, dots, underscores and dashes.
   *
   * @default - the name of the topic the record came from, followed by .dead-letters
   */
  readonly topic?: string;

  /**
   * Share of dead letters among the last 1,000 records of a topic beyond which none is written: the consumer stops
   * with exit code 1, or a topic of a template waits; 1: no limit.
   *
   * Allowed: 0 to 1.
   *
   * @default 0.5
   */
  readonly maxRatio?: number;

  /**
   * How long dead letters stay in the table, from failed_at on; older ones are deleted and counted, and are then in
   * no table. From 1d to 36500d. Left out: they stay.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default - they stay
   */
  readonly keep?: string;
}

/** How the process ends. */
export interface ApplicationShutdownProps {
  /**
   * Time to drain in after SIGTERM; what is not written until then stays ahead of the stored offset.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '25s'
   */
  readonly timeout?: string;
}

/** What is logged. */
export interface ApplicationLoggingProps {
  /**
   * Least severe level that is logged.
   *
   * @default 'info'
   */
  readonly level?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}

/** What the operational interface shows. */
export interface ApplicationManagementProps {
  /**
   * `application.management.server` of consumer.yaml.
   *
   * @default {}
   */
  readonly server?: ApplicationManagementServerProps;

  /**
   * Which endpoints there are, and where they are found.
   *
   * @default { web: { basePath: '/actuator', exposure: { include: ['*'], exclude: [] }, discovery: { enabled: true }
   * } }
   */
  readonly endpoints?: ApplicationManagementEndpointsProps;

  /**
   * `application.management.security` of consumer.yaml.
   *
   * @default {}
   */
  readonly security?: ApplicationManagementSecurityProps;

  /**
   * How single endpoints answer.
   *
   * @default { health: { showDetails: 'always', status: {}, group: {}, probes: { enabled: true, addAdditionalPaths:
   * false } } }
   */
  readonly endpoint?: ApplicationManagementEndpointProps;

  /**
   * What the health report holds.
   *
   * @default { kafka: { inRoot: false }, diskspace: { path: '.', threshold: '10MB' } }
   */
  readonly health?: ApplicationManagementHealthProps;

  /**
   * Which optional parts /actuator/info has.
   *
   * @default { os: { enabled: false }, process: { enabled: false } }
   */
  readonly info?: ApplicationManagementInfoProps;

  /**
   * How metrics are exported.
   *
   * @default { tags: { application: 'stream-consumer' } }
   */
  readonly metrics?: ApplicationManagementMetricsProps;

  /**
   * The page for browsers.
   *
   * @default { enabled: true }
   */
  readonly page?: ApplicationManagementPageProps;
}

/** Spring's own settings. */
export interface ApplicationSpringProps {
  /**
   * Spring Boot's own settings.
   *
   * @default { admin: { client: { url: [], period: '10s', registerOnce: true, autoDeregistration: true, instance: {
   * sendCredentials: false, metadata: {} } } } }
   */
  readonly boot?: ApplicationSpringBootProps;
}

/** How fast the number of Pods may change; each change is a rebalance of the group. */
export interface ScalingKedaBehaviorProps {
  /**
   * Time over which the lowest wanted number counts before Pods are added.
   *
   * Allowed: 0 to 3600.
   *
   * @default 60
   */
  readonly scaleUpWindowSeconds?: number;

  /**
   * Time over which the highest wanted number counts before a Pod is taken away.
   *
   * Allowed: 0 to 3600.
   *
   * @default 600
   */
  readonly scaleDownWindowSeconds?: number;

  /**
   * Time from one Pod that is taken away to the next: each moves partitions.
   *
   * Allowed: 1 to 1800.
   *
   * @default 300
   */
  readonly scaleDownPeriodSeconds?: number;
}

/** A metric from outside, such as the lag. Left out: does not count. */
export interface ScalingHpaExternalProps {
  /**
   * Name of a metric that the cluster has an adapter for.
   *
   * Allowed: the name of a metric: letters, digits, and any of _ . : | -, a letter, digit or _ first.
   */
  readonly metric: string;

  /**
   * Labels that select its series.
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * Value per Pod to aim at, such as records behind.
   *
   * Allowed: 1 to 1000000000.
   */
  readonly averageValue: number;
}

/** How fast the number of Pods may change; each change is a rebalance of the group. */
export interface ScalingHpaBehaviorProps {
  /**
   * Time over which the lowest wanted number counts before Pods are added.
   *
   * Allowed: 0 to 3600.
   *
   * @default 60
   */
  readonly scaleUpWindowSeconds?: number;

  /**
   * Time over which the highest wanted number counts before a Pod is taken away.
   *
   * Allowed: 0 to 3600.
   *
   * @default 600
   */
  readonly scaleDownWindowSeconds?: number;

  /**
   * Time from one Pod that is taken away to the next: each moves partitions.
   *
   * Allowed: 1 to 1800.
   *
   * @default 300
   */
  readonly scaleDownPeriodSeconds?: number;
}

/** Authorities to trust, as PEM. Left out: those of Node.js. */
export interface DatabaseTlsCaProps {
  /**
   * Secret in the same namespace that holds the authorities. Left out: existingConfigMap.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - existingConfigMap
   */
  readonly existingSecret?: string;

  /**
   * ConfigMap in the same namespace that holds them. Left out: existingSecret.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - existingSecret
   */
  readonly existingConfigMap?: string;

  /**
   * Key of the Secret; left out: ca.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'ca.crt'
   */
  readonly key?: string;
}

/** The client's certificate and its key, as PEM. Left out: none. */
export interface DatabaseTlsClientCertificateProps {
  /**
   * Secret in the same namespace, such as one of the type kubernetes.io/tls.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * `database.tls.clientCertificate.keys` of consumer.yaml.
   *
   * @default { certificate: 'tls.crt', privateKey: 'tls.key' }
   */
  readonly keys?: DatabaseTlsClientCertificateKeysProps;
}

/**
 * Adds an ExternalSecret, from which the External Secrets Operator makes the Secret. Left out: somebody else makes
 * it.
 */
export interface DatabaseOwnerExternalSecretProps {
  /**
   * Name of the store, which somebody has set up in the cluster.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly store: string;

  /**
   * Whether the store is for the namespace or for the cluster.
   *
   * @default 'ClusterSecretStore'
   */
  readonly storeKind?: 'SecretStore' | 'ClusterSecretStore';

  /** What the store calls the secret; each of its properties becomes a key of the Secret. */
  readonly remoteKey: string;

  /**
   * Time between two reads of the store.
   *
   * Allowed: a whole number and one of s, m, h, such as 1h.
   *
   * @default '1h'
   */
  readonly refreshInterval?: string;
}

/** Adds a SealedSecret, from which the Sealed Secrets controller makes the Secret. Left out: somebody else makes it. */
export interface DatabaseOwnerSealedSecretProps {
  /** By key of the Secret: its value as kubeseal encrypted it. */
  readonly encryptedData: Readonly<Record<string, string>>;

  /**
   * Scope that kubeseal encrypted the values for: what may use them.
   *
   * @default 'strict'
   */
  readonly scope?: 'strict' | 'namespace-wide' | 'cluster-wide';
}

/** Keys of the Secret. */
export interface DatabaseOwnerKeysProps {
  /**
   * Key of the Secret; left out: url.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'url'
   */
  readonly url?: string;

  /**
   * Key of the Secret; left out: user.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'user'
   */
  readonly user?: string;

  /**
   * Key of the Secret; left out: password.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'password'
   */
  readonly password?: string;
}

/** Authorities to trust, as PEM. Left out: those of Node.js. */
export interface KafkaTlsCaProps {
  /**
   * Secret in the same namespace that holds the authorities. Left out: existingConfigMap.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - existingConfigMap
   */
  readonly existingSecret?: string;

  /**
   * ConfigMap in the same namespace that holds them. Left out: existingSecret.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - existingSecret
   */
  readonly existingConfigMap?: string;

  /**
   * Key of the Secret; left out: ca.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'ca.crt'
   */
  readonly key?: string;
}

/** The client's certificate and its key, as PEM. Left out: none. */
export interface KafkaTlsClientCertificateProps {
  /**
   * Secret in the same namespace, such as one of the type kubernetes.io/tls.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * `kafka.tls.clientCertificate.keys` of consumer.yaml.
   *
   * @default { certificate: 'tls.crt', privateKey: 'tls.key' }
   */
  readonly keys?: KafkaTlsClientCertificateKeysProps;
}

/** Authorities to trust, as PEM. Left out: those of Node.js. */
export interface SchemaRegistryTlsCaProps {
  /**
   * Secret in the same namespace that holds the authorities. Left out: existingConfigMap.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - existingConfigMap
   */
  readonly existingSecret?: string;

  /**
   * ConfigMap in the same namespace that holds them. Left out: existingSecret.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   *
   * @default - existingSecret
   */
  readonly existingConfigMap?: string;

  /**
   * Key of the Secret; left out: ca.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'ca.crt'
   */
  readonly key?: string;
}

/** The client's certificate and its key, as PEM. Left out: none. */
export interface SchemaRegistryTlsClientCertificateProps {
  /**
   * Secret in the same namespace, such as one of the type kubernetes.io/tls.
   *
   * Allowed: the name of a Kubernetes object: lower-case letters, digits, dashes and dots.
   */
  readonly existingSecret: string;

  /**
   * `schemaRegistry.tls.clientCertificate.keys` of consumer.yaml.
   *
   * @default { certificate: 'tls.crt', privateKey: 'tls.key' }
   */
  readonly keys?: SchemaRegistryTlsClientCertificateKeysProps;
}

/** A place: addresses, Pods, or only ports. */
export interface NetworkPolicyEgressDnsProps {
  /**
   * Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.
   *
   * Allowed: a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32.
   *
   * @default - any address
   */
  readonly cidr?: string;

  /**
   * Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.
   *
   * Allowed: the name of a namespace: at most 63 lower-case letters, digits and dashes.
   *
   * @default - the consumer's own where podLabels are given, otherwise any place
   */
  readonly namespace?: string;

  /**
   * Labels of the Pods. Left out: all Pods of the namespace.
   *
   * @default - all Pods of the namespace
   */
  readonly podLabels?: Readonly<Record<string, string>>;

  /**
   * Ports as the Pods or hosts there have them, not those of a Service. Left out: 53.
   *
   * @default []
   */
  readonly ports?: readonly number[];
}

/** A place: addresses, Pods, or only ports. */
export interface NetworkPolicyEgressBrokersProps {
  /**
   * Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.
   *
   * Allowed: a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32.
   *
   * @default - any address
   */
  readonly cidr?: string;

  /**
   * Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.
   *
   * Allowed: the name of a namespace: at most 63 lower-case letters, digits and dashes.
   *
   * @default - the consumer's own where podLabels are given, otherwise any place
   */
  readonly namespace?: string;

  /**
   * Labels of the Pods. Left out: all Pods of the namespace.
   *
   * @default - all Pods of the namespace
   */
  readonly podLabels?: Readonly<Record<string, string>>;

  /**
   * Ports as the Pods or hosts there have them, not those of a Service. Left out: the ports of
   * application.kafka.brokers.
   *
   * @default []
   */
  readonly ports?: readonly number[];
}

/** A place: addresses, Pods, or only ports. */
export interface NetworkPolicyEgressDatabaseProps {
  /**
   * Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.
   *
   * Allowed: a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32.
   *
   * @default - any address
   */
  readonly cidr?: string;

  /**
   * Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.
   *
   * Allowed: the name of a namespace: at most 63 lower-case letters, digits and dashes.
   *
   * @default - the consumer's own where podLabels are given, otherwise any place
   */
  readonly namespace?: string;

  /**
   * Labels of the Pods. Left out: all Pods of the namespace.
   *
   * @default - all Pods of the namespace
   */
  readonly podLabels?: Readonly<Record<string, string>>;

  /**
   * Ports as the Pods or hosts there have them, not those of a Service. Left out: 5432.
   *
   * @default []
   */
  readonly ports?: readonly number[];
}

/** A place: addresses, Pods, or only ports. */
export interface NetworkPolicyEgressSchemaRegistryProps {
  /**
   * Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.
   *
   * Allowed: a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32.
   *
   * @default - any address
   */
  readonly cidr?: string;

  /**
   * Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.
   *
   * Allowed: the name of a namespace: at most 63 lower-case letters, digits and dashes.
   *
   * @default - the consumer's own where podLabels are given, otherwise any place
   */
  readonly namespace?: string;

  /**
   * Labels of the Pods. Left out: all Pods of the namespace.
   *
   * @default - all Pods of the namespace
   */
  readonly podLabels?: Readonly<Record<string, string>>;

  /**
   * Ports as the Pods or hosts there have them, not those of a Service. Left out: the ports of
   * application.schemaRegistry.url.
   *
   * @default []
   */
  readonly ports?: readonly number[];
}

/** A place: addresses, Pods, or only ports. */
export interface NetworkPolicyEgressTokensProps {
  /**
   * Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.
   *
   * Allowed: a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32.
   *
   * @default - any address
   */
  readonly cidr?: string;

  /**
   * Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.
   *
   * Allowed: the name of a namespace: at most 63 lower-case letters, digits and dashes.
   *
   * @default - the consumer's own where podLabels are given, otherwise any place
   */
  readonly namespace?: string;

  /**
   * Labels of the Pods. Left out: all Pods of the namespace.
   *
   * @default - all Pods of the namespace
   */
  readonly podLabels?: Readonly<Record<string, string>>;

  /**
   * Ports as the Pods or hosts there have them, not those of a Service. Left out: the ports of the token endpoints in
   * application, or with aws-msk-iam and database.rdsIam 443, AWS's STS.
   *
   * @default []
   */
  readonly ports?: readonly number[];
}

/** A place: addresses, Pods, or only ports. */
export interface NetworkPolicyEgressOthersProps {
  /**
   * Block of addresses, for what is outside of the cluster; not together with the others. Left out: any address.
   *
   * Allowed: a block of addresses such as 10.0.0.0/8, 192.0.2.10/32 or 2001:db8::/32.
   *
   * @default - any address
   */
  readonly cidr?: string;

  /**
   * Namespace of the Pods. Left out: the consumer's own where podLabels are given, otherwise any place.
   *
   * Allowed: the name of a namespace: at most 63 lower-case letters, digits and dashes.
   *
   * @default - the consumer's own where podLabels are given, otherwise any place
   */
  readonly namespace?: string;

  /**
   * Labels of the Pods. Left out: all Pods of the namespace.
   *
   * @default - all Pods of the namespace
   */
  readonly podLabels?: Readonly<Record<string, string>>;

  /** Ports as the Pods or hosts there have them, not those of a Service. */
  readonly ports: readonly number[];
}

/** `monitoring.credentials.keys` of consumer.yaml. */
export interface MonitoringCredentialsKeysProps {
  /**
   * Key of the Secret; left out: token.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'token'
   */
  readonly token?: string;

  /**
   * Key of the Secret; left out: username.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'username'
   */
  readonly username?: string;

  /**
   * Key of the Secret; left out: password.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'password'
   */
  readonly password?: string;
}

/** `monitoring.tls.keys` of consumer.yaml. */
export interface MonitoringTlsKeysProps {
  /**
   * Key of the Secret; left out: tls.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'tls.crt'
   */
  readonly certificate?: string;

  /**
   * Key of the Secret; left out: tls.key.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'tls.key'
   */
  readonly privateKey?: string;

  /**
   * Key of the Secret; left out: ca.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'ca.crt'
   */
  readonly authority?: string;
}

/** `monitoring.springBootAdmin.keys` of consumer.yaml. */
export interface MonitoringSpringBootAdminKeysProps {
  /**
   * Key of the Secret; left out: username.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'username'
   */
  readonly username?: string;

  /**
   * Key of the Secret; left out: password.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'password'
   */
  readonly password?: string;
}

/** What differs from the defaults of one alert. */
export interface MonitoringAlertsRulesProps {
  /**
   * false: no level of it is rendered. true: each of its levels, optional ones too. Left out: all but the optional
   * ones.
   *
   * @default - all but the optional ones
   */
  readonly enabled?: boolean;

  /**
   * Time it keeps firing afterwards; left out: the default that docs/monitoring.md lists.
   *
   * Allowed: a duration of Prometheus: a whole number and one of s, m, h, such as 0s, 90s, 5m.
   *
   * @default - the default that docs/monitoring.md lists
   */
  readonly keepFiringFor?: string;

  /**
   * More labels for this alert.
   *
   * @default {}
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * More annotations for this alert; one of the same name takes the place of a text.
   *
   * @default {}
   */
  readonly annotations?: Readonly<Record<string, string>>;

  /**
   * The level warning, where the alert has it; left out: as docs/monitoring.md lists it.
   *
   * @default - as docs/monitoring.md lists it
   */
  readonly warning?: MonitoringAlertsRulesWarningProps;

  /**
   * The level critical, where the alert has it; left out: as docs/monitoring.md lists it.
   *
   * @default - as docs/monitoring.md lists it
   */
  readonly critical?: MonitoringAlertsRulesCriticalProps;
}

/** HTTPS for the operational interface; the files are read again when they change. Left out: HTTP. */
export interface ApplicationServerSslProps {
  /** PEM file with the certificate, followed by those of its intermediate authorities. */
  readonly certificate: string;

  /** PEM file with the certificate's private key, not encrypted. */
  readonly certificatePrivateKey: string;
}

/**
 * Certificates for TLS to the brokers; the files are read anew at each connection. Left out: the authorities of
 * Node.js, and no client certificate.
 */
export interface ApplicationKafkaTlsProps {
  /**
   * Authorities to trust for the brokers' certificates: the path of a PEM file, or the PEM text itself. Left out:
   * those of Node.js.
   *
   * @default - those of Node.js
   */
  readonly ca?: string;

  /**
   * The client's certificate, followed by those of its intermediate authorities: the path of a PEM file, or the PEM
   * text itself. Left out: none.
   *
   * @default - none
   */
  readonly certificate?: string;

  /**
   * Name that every broker's certificate has to hold, and that is asked for (SNI), in place of the broker's host.
   * Left out: the host.
   *
   * Allowed: a host's name, not an address.
   *
   * @default - the host
   */
  readonly serverName?: string;

  /**
   * Whether a broker's certificate has to name its host. false: any certificate of a trusted authority will do, so
   * whoever has one can pose as a broker.
   *
   * @default true
   */
  readonly verifyHostName?: boolean;
}

/** SASL authentication with the brokers; left out: none. */
export interface ApplicationKafkaSaslProps {
  /** How the login is proved; plain sends the password and oauthbearer the token, so they want kafka.ssl. */
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'oauthbearer' | 'aws-msk-iam';

  /**
   * User at the brokers, of plain and scram. Left out: for a login by token. Left out: it comes from the Secret with
   * the password.
   *
   * @default - for a login by token
   */
  readonly username?: string;

  /**
   * Where the token of oauthbearer comes from. Left out: for another mechanism.
   *
   * @default - for another mechanism
   */
  readonly oauth?: ApplicationKafkaSaslOauthProps;

  /**
   * What aws-msk-iam signs for; the keys are those of the environment. Left out: the region is, too.
   *
   * @default - the region is, too
   */
  readonly aws?: ApplicationKafkaSaslAwsProps;
}

/** Where the bearer token for the registry comes from. Left out: for another login. */
export interface ApplicationSchemaRegistryOauthProps {
  /**
   * Where a token is asked for by client credentials (RFC 6749, section 4.4). Left out: tokenFile.
   *
   * Allowed: an https URL, or an http URL of this host, without user and fragment.
   *
   * @default - tokenFile
   */
  readonly tokenEndpoint?: string;

  /**
   * Id of this client at the token endpoint. Left out: with a tokenFile.
   *
   * @default - with a tokenFile
   */
  readonly clientId?: string;

  /**
   * What the token is for; several with blanks between them. Left out: as the server takes it.
   *
   * @default - as the server takes it
   */
  readonly scope?: string;

  /**
   * File with a token, read at each login, such as one of a projected volume. Left out: tokenEndpoint.
   *
   * @default - tokenEndpoint
   */
  readonly tokenFile?: string;

  /**
   * Id of the registry at Confluent Cloud, such as lsrc-abc123, sent as the header target-sr-cluster. Left out: the
   * header is not sent.
   *
   * Allowed: a text of visible ASCII characters without blanks.
   *
   * @default - the header is not sent
   */
  readonly logicalCluster?: string;

  /**
   * Id of the identity pool at Confluent Cloud, such as pool-abc1, sent as the header Confluent-Identity-Pool-Id.
   * Left out: the header is not sent.
   *
   * Allowed: a text of visible ASCII characters without blanks.
   *
   * @default - the header is not sent
   */
  readonly identityPoolId?: string;
}

/**
 * Certificates for TLS to the registry; the files are read anew at each connection. Left out: the authorities of
 * Node.js, and no client certificate.
 */
export interface ApplicationSchemaRegistryTlsProps {
  /**
   * Authorities to trust for the registry's certificates: the path of a PEM file, or the PEM text itself. Left out:
   * those of Node.js.
   *
   * @default - those of Node.js
   */
  readonly ca?: string;

  /**
   * The client's certificate, followed by those of its intermediate authorities: the path of a PEM file, or the PEM
   * text itself. Left out: none.
   *
   * @default - none
   */
  readonly certificate?: string;

  /**
   * Name that the registry's certificate has to hold, and that is asked for (SNI), in place of the URL's host. Left
   * out: the host.
   *
   * Allowed: a host's name, not an address.
   *
   * @default - the host
   */
  readonly serverName?: string;
}

/**
 * TLS to PostgreSQL: the certificate of the server has to be trusted and to name the host. The files are read at each
 * new connection, and win over those of the URL. Left out: as in the URL.
 */
export interface ApplicationDatabaseTlsProps {
  /**
   * Authorities that the server's certificate may be signed by: the path of a PEM file, or the PEM itself. Left out:
   * the URL's sslrootcert, else those of Node.js.
   *
   * Allowed: the path of a PEM file, or the PEM itself.
   *
   * @default - the URL's sslrootcert, else those of Node.js
   */
  readonly ca?: string;

  /**
   * The client's certificate, followed by those of its intermediate authorities: the path of a PEM file, or the PEM
   * itself. Left out: the URL's sslcert.
   *
   * Allowed: the path of a PEM file, or the PEM itself.
   *
   * @default - the URL's sslcert
   */
  readonly certificate?: string;
}

/** Login at Amazon RDS and Aurora by IAM. */
export interface ApplicationDatabaseRdsIamProps {
  /**
   * Whether the password is a token of RDS IAM, made for each connection by the identity that the Pod has at AWS. It
   * wants TLS, a user, and no password.
   *
   * @default false
   */
  readonly enabled?: boolean;

  /**
   * Region of the database; left out: the environment's AWS_REGION, else AWS_DEFAULT_REGION.
   *
   * Allowed: a region's name, such as eu-central-1.
   *
   * @default - the environment's AWS_REGION, else AWS_DEFAULT_REGION
   */
  readonly region?: string;
}

/** `application.formats.key` of consumer.yaml. */
export interface ApplicationFormatsKeyProps {
  /**
   * File of an Avro schema: values are in its binary encoding, without anything before them. Left out: protobuf names
   * the file.
   *
   * @default - protobuf names the file
   */
  readonly avro?: string;

  /**
   * File of a Protobuf schema: values are one message each, without anything before them. Left out: avro names the
   * file.
   *
   * @default - avro names the file
   */
  readonly protobuf?: string;

  /**
   * Full name of the message in the file of protobuf, such as acme.Tick. Left out: there is no file of protobuf.
   *
   * @default - there is no file of protobuf
   */
  readonly message?: string;
}

/** `application.formats.value` of consumer.yaml. */
export interface ApplicationFormatsValueProps {
  /**
   * File of an Avro schema: values are in its binary encoding, without anything before them. Left out: protobuf names
   * the file.
   *
   * @default - protobuf names the file
   */
  readonly avro?: string;

  /**
   * File of a Protobuf schema: values are one message each, without anything before them. Left out: avro names the
   * file.
   *
   * @default - avro names the file
   */
  readonly protobuf?: string;

  /**
   * Full name of the message in the file of protobuf, such as acme.Tick. Left out: there is no file of protobuf.
   *
   * @default - there is no file of protobuf
   */
  readonly message?: string;
}

/** Where the value of a column comes from, and how it is read. */
export interface ApplicationTablesColumnsProps {
  /**
   * Where the value comes from.
   *
   * Allowed: a path such as customer.name, a JSON Pointer such as /a.b/0, or a word such as $key or $header.<name>.
   */
  readonly from: string;

  /**
   * Unit of a number in a column for a date or time, or form of a value that encodes another one: decimal and
   * time-millis are Kafka Connect's, bits, variable-decimal and point Debezium's, json is a text that holds JSON.
   * Left out: what the schema in the record says, where it has one; else the column's type determines how the value
   * is read.
   *
   * Allowed: one of epoch-seconds, epoch-millis, epoch-micros, epoch-nanos, epoch-days, time-millis, time-micros,
   * time-nanos, duration-micros, base64, hex, json, bits, variable-decimal, point, or decimal(<scale>) with a scale
   * from 0 to 9999.
   *
   * @default - what the schema in the record says, where it has one
   */
  readonly as?: string;
}

/** `application.management.server` of consumer.yaml. */
export interface ApplicationManagementServerProps {
  /**
   * Port of the operational HTTP interface instead of server.port, where nothing listens then. Left out: server.port.
   *
   * Allowed: 0 to 65535.
   *
   * @default - server.port
   */
  readonly port?: number;

  /**
   * Address the HTTP interface listens on instead of server.address. Left out: server.address.
   *
   * @default - server.address
   */
  readonly address?: string;
}

/** Which endpoints there are, and where they are found. */
export interface ApplicationManagementEndpointsProps {
  /**
   * The endpoints as a web API.
   *
   * @default { basePath: '/actuator', exposure: { include: ['*'], exclude: [] }, discovery: { enabled: true } }
   */
  readonly web?: ApplicationManagementEndpointsWebProps;
}

/** `application.management.security` of consumer.yaml. */
export interface ApplicationManagementSecurityProps {

}

/** How single endpoints answer. */
export interface ApplicationManagementEndpointProps {
  /**
   * How the health answers.
   *
   * @default { showDetails: 'always', status: {}, group: {}, probes: { enabled: true, addAdditionalPaths: false } }
   */
  readonly health?: ApplicationManagementEndpointHealthProps;
}

/** What the health report holds. */
export interface ApplicationManagementHealthProps {
  /**
   * The component kafka of the health report.
   *
   * @default { inRoot: false }
   */
  readonly kafka?: ApplicationManagementHealthKafkaProps;

  /**
   * The component diskSpace of the health report.
   *
   * @default { path: '.', threshold: '10MB' }
   */
  readonly diskspace?: ApplicationManagementHealthDiskspaceProps;
}

/** Which optional parts /actuator/info has. */
export interface ApplicationManagementInfoProps {
  /**
   * An optional part of /actuator/info.
   *
   * @default { enabled: false }
   */
  readonly os?: ApplicationManagementInfoOsProps;

  /**
   * An optional part of /actuator/info.
   *
   * @default { enabled: false }
   */
  readonly process?: ApplicationManagementInfoProcessProps;
}

/** How metrics are exported. */
export interface ApplicationManagementMetricsProps {
  /**
   * More labels of every series.
   *
   * @default { application: 'stream-consumer' }
   */
  readonly tags?: Readonly<Record<string, string>>;
}

/** The page for browsers. */
export interface ApplicationManagementPageProps {
  /**
   * Whether / answers browsers with a page: state, lag, rates, dead letters, and what waits. It shows no more than
   * management.endpoint.health.show-details.
   *
   * @default true
   */
  readonly enabled?: boolean;
}

/** Spring Boot's own settings. */
export interface ApplicationSpringBootProps {
  /**
   * Spring Boot Admin.
   *
   * @default { client: { url: [], period: '10s', registerOnce: true, autoDeregistration: true, instance: {
   * sendCredentials: false, metadata: {} } } }
   */
  readonly admin?: ApplicationSpringBootAdminProps;
}

/** `database.tls.clientCertificate.keys` of consumer.yaml. */
export interface DatabaseTlsClientCertificateKeysProps {
  /**
   * Key of the Secret; left out: tls.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'tls.crt'
   */
  readonly certificate?: string;

  /**
   * Key of the Secret; left out: tls.key.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'tls.key'
   */
  readonly privateKey?: string;
}

/** `kafka.tls.clientCertificate.keys` of consumer.yaml. */
export interface KafkaTlsClientCertificateKeysProps {
  /**
   * Key of the Secret; left out: tls.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'tls.crt'
   */
  readonly certificate?: string;

  /**
   * Key of the Secret; left out: tls.key.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'tls.key'
   */
  readonly privateKey?: string;
}

/** `schemaRegistry.tls.clientCertificate.keys` of consumer.yaml. */
export interface SchemaRegistryTlsClientCertificateKeysProps {
  /**
   * Key of the Secret; left out: tls.crt.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'tls.crt'
   */
  readonly certificate?: string;

  /**
   * Key of the Secret; left out: tls.key.
   *
   * Allowed: a key of a Secret: letters, digits, dashes, underscores and dots, not beginning with two dots.
   *
   * @default 'tls.key'
   */
  readonly privateKey?: string;
}

/** The level warning, where the alert has it; left out: as docs/monitoring.md lists it. */
export interface MonitoringAlertsRulesWarningProps {
  /**
   * Whether the alert has this level; left out: as enabled of the alert, otherwise true, but false for an optional
   * one.
   *
   * @default - as enabled of the alert, otherwise true, but false for an optional one
   */
  readonly enabled?: boolean;

  /**
   * Limit; left out: the default that docs/monitoring.md lists.
   *
   * @default - the default that docs/monitoring.md lists
   */
  readonly threshold?: number;

  /**
   * Time the condition has to hold; left out: the default that docs/monitoring.md lists.
   *
   * Allowed: a duration of Prometheus: a whole number and one of s, m, h, such as 0s, 90s, 5m.
   *
   * @default - the default that docs/monitoring.md lists
   */
  readonly for?: string;

  /**
   * Label severity, for other names in a routing tree; left out: warning.
   *
   * Allowed: letters, digits, and any of _ . -.
   *
   * @default - warning
   */
  readonly severity?: string;
}

/** The level critical, where the alert has it; left out: as docs/monitoring.md lists it. */
export interface MonitoringAlertsRulesCriticalProps {
  /**
   * Whether the alert has this level; left out: as enabled of the alert, otherwise true, but false for an optional
   * one.
   *
   * @default - as enabled of the alert, otherwise true, but false for an optional one
   */
  readonly enabled?: boolean;

  /**
   * Limit; left out: the default that docs/monitoring.md lists.
   *
   * @default - the default that docs/monitoring.md lists
   */
  readonly threshold?: number;

  /**
   * Time the condition has to hold; left out: the default that docs/monitoring.md lists.
   *
   * Allowed: a duration of Prometheus: a whole number and one of s, m, h, such as 0s, 90s, 5m.
   *
   * @default - the default that docs/monitoring.md lists
   */
  readonly for?: string;

  /**
   * Label severity, for other names in a routing tree; left out: critical.
   *
   * Allowed: letters, digits, and any of _ . -.
   *
   * @default - critical
   */
  readonly severity?: string;
}

/** Where the token of oauthbearer comes from. Left out: for another mechanism. */
export interface ApplicationKafkaSaslOauthProps {
  /**
   * Where a token is asked for by client credentials (RFC 6749, section 4.4). Left out: tokenFile.
   *
   * Allowed: an https URL, or an http URL of this host, without user and fragment.
   *
   * @default - tokenFile
   */
  readonly tokenEndpoint?: string;

  /**
   * Id of this client at the token endpoint. Left out: with a tokenFile.
   *
   * @default - with a tokenFile
   */
  readonly clientId?: string;

  /**
   * What the token is for; several with blanks between them. Left out: as the server takes it.
   *
   * @default - as the server takes it
   */
  readonly scope?: string;

  /**
   * File with a token, read at each login, such as one of a projected volume. Left out: tokenEndpoint.
   *
   * @default - tokenEndpoint
   */
  readonly tokenFile?: string;

  /**
   * SASL extensions (RFC 7628, KIP-342), such as logicalCluster and identityPoolId of Confluent Cloud. Left out:
   * none.
   *
   * @default - none
   */
  readonly extensions?: Readonly<Record<string, string>>;
}

/** What aws-msk-iam signs for; the keys are those of the environment. Left out: the region is, too. */
export interface ApplicationKafkaSaslAwsProps {
  /**
   * The cluster's region. Left out: the environment's AWS_REGION, else AWS_DEFAULT_REGION.
   *
   * Allowed: a region's name, such as eu-central-1.
   *
   * @default - the environment's AWS_REGION, else AWS_DEFAULT_REGION
   */
  readonly region?: string;
}

/** The endpoints as a web API. */
export interface ApplicationManagementEndpointsWebProps {
  /**
   * Path that all endpoints begin with; a slash at its end is cut, and empty serves them at the root.
   *
   * Allowed: an empty text, or segments of letters, digits and . _ ~ - that each begin with a slash.
   *
   * @default '/actuator'
   */
  readonly basePath?: string;

  /**
   * Which endpoints answer.
   *
   * @default { include: ['*'], exclude: [] }
   */
  readonly exposure?: ApplicationManagementEndpointsWebExposureProps;

  /**
   * The list of endpoints.
   *
   * @default { enabled: true }
   */
  readonly discovery?: ApplicationManagementEndpointsWebDiscoveryProps;
}

/** How the health answers. */
export interface ApplicationManagementEndpointHealthProps {
  /**
   * Whether components show their details: never, always, or when-authorized, to who shows the credential of
   * management.security.
   *
   * @default 'always'
   */
  readonly showDetails?: 'never' | 'when-authorized' | 'always';

  /**
   * Whether the components are shown, and answer at their own paths. Left out: as
   * management.endpoint.health.show-details.
   *
   * @default - as management.endpoint.health.show-details
   */
  readonly showComponents?: 'never' | 'when-authorized' | 'always';

  /**
   * How statuses are ordered and mapped; in a group, what is left out is as in the whole.
   *
   * @default {}
   */
  readonly status?: ApplicationManagementEndpointHealthStatusProps;

  /**
   * Groups of components by name; each answers below /actuator/health.
   *
   * @default {}
   */
  readonly group?: Readonly<Record<string, ApplicationManagementEndpointHealthGroupProps>>;

  /**
   * What Kubernetes asks for.
   *
   * @default { enabled: true, addAdditionalPaths: false }
   */
  readonly probes?: ApplicationManagementEndpointHealthProbesProps;
}

/** The component kafka of the health report. */
export interface ApplicationManagementHealthKafkaProps {
  /**
   * Whether an outage of Kafka makes /actuator/health DOWN. Both probes ask it, and a restart brings no broker back.
   *
   * @default false
   */
  readonly inRoot?: boolean;
}

/** The component diskSpace of the health report. */
export interface ApplicationManagementHealthDiskspaceProps {
  /**
   * Folder whose file system is watched.
   *
   * @default '.'
   */
  readonly path?: string;

  /**
   * Free space below which diskSpace is DOWN.
   *
   * Allowed: a size: a whole number and one of B, KB, MB, GB, TB (each 1,024 times the one before), such as 10MB;
   * bytes without a unit.
   *
   * @default '10MB'
   */
  readonly threshold?: number | string;
}

/** An optional part of /actuator/info. */
export interface ApplicationManagementInfoOsProps {
  /**
   * Whether /actuator/info names the operating system.
   *
   * @default false
   */
  readonly enabled?: boolean;
}

/** An optional part of /actuator/info. */
export interface ApplicationManagementInfoProcessProps {
  /**
   * Whether /actuator/info contains the process: its number, owner, processors and memory.
   *
   * @default false
   */
  readonly enabled?: boolean;
}

/** Spring Boot Admin. */
export interface ApplicationSpringBootAdminProps {
  /**
   * Registration at Spring Boot Admin.
   *
   * @default { url: [], period: '10s', registerOnce: true, autoDeregistration: true, instance: { sendCredentials:
   * false, metadata: {} } }
   */
  readonly client?: ApplicationSpringBootAdminClientProps;
}

/** Which endpoints answer. */
export interface ApplicationManagementEndpointsWebExposureProps {
  /**
   * Endpoints that answer; * is all of them. Any other is 404 and in no link. Probes and health check ask health.
   *
   * @default ['*']
   */
  readonly include?: readonly ('health' | 'info' | 'metrics' | 'prometheus' | '*')[];

  /**
   * Endpoints that do not answer although they are included; * is all of them.
   *
   * @default []
   */
  readonly exclude?: readonly ('health' | 'info' | 'metrics' | 'prometheus' | '*')[];
}

/** The list of endpoints. */
export interface ApplicationManagementEndpointsWebDiscoveryProps {
  /**
   * Whether the base path answers with links to the endpoints.
   *
   * @default true
   */
  readonly enabled?: boolean;
}

/** How statuses are ordered and mapped; in a group, what is left out is as in the whole. */
export interface ApplicationManagementEndpointHealthStatusProps {
  /**
   * Statuses, the most severe first: of several components the first one here is the status of all. A status that is
   * left out counts for nothing. Left out: down, out-of-service, up, unknown.
   *
   * @default - down, out-of-service, up, unknown
   */
  readonly order?: readonly ('down' | 'out-of-service' | 'up' | 'unknown')[];

  /**
   * HTTP status of each health status. Left out: 503 for down and out-of-service, 200 for the others.
   *
   * @default - 503 for down and out-of-service, 200 for the others
   */
  readonly httpMapping?: ApplicationManagementEndpointHealthStatusHttpMappingProps;
}

/** A group of health components. */
export interface ApplicationManagementEndpointHealthGroupProps {
  /**
   * Components of the group; * or an empty list is all of them.
   *
   * @default []
   */
  readonly include?: readonly ('consumer' | 'db' | 'diskSpace' | 'kafka' | 'livenessState' | 'ping' | 'readinessState' | 'schemaRegistry' | '*')[];

  /**
   * Components that are not in the group although they are included; * is all of them.
   *
   * @default []
   */
  readonly exclude?: readonly ('consumer' | 'db' | 'diskSpace' | 'kafka' | 'livenessState' | 'ping' | 'readinessState' | 'schemaRegistry' | '*')[];

  /**
   * Whether the group shows details. Left out: as the whole.
   *
   * @default - as the whole
   */
  readonly showDetails?: 'never' | 'when-authorized' | 'always';

  /**
   * Whether the group shows components. Left out: as the whole.
   *
   * @default - as the whole
   */
  readonly showComponents?: 'never' | 'when-authorized' | 'always';

  /**
   * Another path that answers for the group. Left out: none.
   *
   * Allowed: server: or management: and a path of one segment, such as server:/healthz.
   *
   * @default - none
   */
  readonly additionalPath?: string;

  /**
   * How statuses are ordered and mapped; in a group, what is left out is as in the whole.
   *
   * @default {}
   */
  readonly status?: ApplicationManagementEndpointHealthGroupStatusProps;
}

/** What Kubernetes asks for. */
export interface ApplicationManagementEndpointHealthProbesProps {
  /**
   * Whether there are the components livenessState and readinessState and the groups liveness and readiness.
   *
   * @default true
   */
  readonly enabled?: boolean;

  /**
   * Whether the two groups also answer at /livez and /readyz.
   *
   * @default false
   */
  readonly addAdditionalPaths?: boolean;
}

/** Registration at Spring Boot Admin. */
export interface ApplicationSpringBootAdminClientProps {
  /**
   * Servers to register at, as their users see them. Left out: none, and nobody is asked.
   *
   * @default []
   */
  readonly url?: readonly string[];

  /**
   * Time between two registrations; a server that was started anew knows nobody.
   *
   * Allowed: a duration: a whole number and one of ms, s, m, h, d, such as 500ms, 30s, 5m.
   *
   * @default '10s'
   */
  readonly period?: string;

  /**
   * Whether the first server that answers is enough. false: the consumer registers at each.
   *
   * @default true
   */
  readonly registerOnce?: boolean;

  /**
   * Whether the consumer signs off when it ends.
   *
   * @default true
   */
  readonly autoDeregistration?: boolean;

  /**
   * What the server gets.
   *
   * @default { sendCredentials: false, metadata: {} }
   */
  readonly instance?: ApplicationSpringBootAdminClientInstanceProps;
}

/** HTTP status of each health status. Left out: 503 for down and out-of-service, 200 for the others. */
export interface ApplicationManagementEndpointHealthStatusHttpMappingProps {
  /**
   * HTTP status of an answer whose health is DOWN. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly down?: number;

  /**
   * HTTP status of an answer whose health is OUT_OF_SERVICE. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly outOfService?: number;

  /**
   * HTTP status of an answer whose health is UP. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly up?: number;

  /**
   * HTTP status of an answer whose health is UNKNOWN. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly unknown?: number;
}

/** How statuses are ordered and mapped; in a group, what is left out is as in the whole. */
export interface ApplicationManagementEndpointHealthGroupStatusProps {
  /**
   * Statuses, the most severe first: of several components the first one here is the status of all. A status that is
   * left out counts for nothing. Left out: down, out-of-service, up, unknown.
   *
   * @default - down, out-of-service, up, unknown
   */
  readonly order?: readonly ('down' | 'out-of-service' | 'up' | 'unknown')[];

  /**
   * HTTP status of each health status. Left out: 503 for down and out-of-service, 200 for the others.
   *
   * @default - 503 for down and out-of-service, 200 for the others
   */
  readonly httpMapping?: ApplicationManagementEndpointHealthGroupStatusHttpMappingProps;
}

/** What the server gets. */
export interface ApplicationSpringBootAdminClientInstanceProps {
  /**
   * Name to be shown. Left out: management.metrics.tags.application.
   *
   * @default - management.metrics.tags.application
   */
  readonly name?: string;

  /**
   * Where the server finds this consumer, up to the port. Left out: the Pod's IP (environment variable POD_IP), else
   * the machine's name, with scheme and port as they are.
   *
   * Allowed: an http or https URL without user, query and fragment.
   *
   * @default - the Pod's IP (environment variable POD_IP), else the machine's name, with scheme and port as they are
   */
  readonly serviceBaseUrl?: string;

  /**
   * The list of endpoints. Left out: the base URL and the base path.
   *
   * Allowed: an http or https URL without user, query and fragment.
   *
   * @default - the base URL and the base path
   */
  readonly managementUrl?: string;

  /**
   * The health. Left out: the base URL and the path of the health.
   *
   * Allowed: an http or https URL without user, query and fragment.
   *
   * @default - the base URL and the path of the health
   */
  readonly healthUrl?: string;

  /**
   * Whether the server gets user and password of management.security (metadata user.name, user.password), without
   * which it sees the status of the health alone.
   *
   * @default false
   */
  readonly sendCredentials?: boolean;

  /**
   * Sent to the server unchanged, such as tags.environment: staging.
   *
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** HTTP status of each health status. Left out: 503 for down and out-of-service, 200 for the others. */
export interface ApplicationManagementEndpointHealthGroupStatusHttpMappingProps {
  /**
   * HTTP status of an answer whose health is DOWN. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly down?: number;

  /**
   * HTTP status of an answer whose health is OUT_OF_SERVICE. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly outOfService?: number;

  /**
   * HTTP status of an answer whose health is UP. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly up?: number;

  /**
   * HTTP status of an answer whose health is UNKNOWN. Left out: 200.
   *
   * Allowed: 200 to 599.
   *
   * @default - 200
   */
  readonly unknown?: number;
}
