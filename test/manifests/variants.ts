const AMOUNTS = { cpu: '50m', memory: '32Mi', 'ephemeral-storage': '16Mi' };
const SMALL = { requests: AMOUNTS, limits: AMOUNTS };

/** The variant that switches off instead of on. */
export const SWITCHED_OFF = 'without what can be left out';

/** The variant whose Pods name no user: a tool that looks at manifests alone finds none. */
export const USER_FROM_CLUSTER = 'Pods whose user the cluster chooses';

/** consumer.yaml with each option that adds or changes an object, laid over the smallest one. */
export const VARIANTS: Readonly<Record<string, object>> = {
  'the smallest': {},
  'several replicas': { replicas: 3 },
  [SWITCHED_OFF]: { namespace: { create: false }, networkPolicy: { enabled: false } },
  'three probes': { probes: { paths: 'groups', startup: {} } },
  'labels and annotations of all objects, and one more object': {
    labels: { 'example.com/cost-centre': '42', 'app.kubernetes.io/part-of': 'theirs' },
    annotations: { 'example.com/owner': 'Payments' },
    extraObjects: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'more', labels: { 'app.kubernetes.io/part-of': 'stream-consumer' } },
        data: { a: 'b' },
      },
    ],
    patches: [{ operations: [{ op: 'add', path: '/metadata/labels/patched', value: 'all' }] }],
  },
  [USER_FROM_CLUSTER]: {
    pods: { userFromCluster: true, doctor: true, sidecars: [{ name: 'proxy', image: 'proxy:2', resources: SMALL }] },
    database: {
      migrate: 'job',
      owner: { existingSecret: 'owner' },
      job: { annotations: { 'argocd.argoproj.io/sync-options': 'Prune=false' } },
    },
  },
  'Pods with variables, name servers and host names of the user': {
    image: { pullPolicy: 'Always' },
    rollout: { minReadySeconds: 10 },
    pods: {
      env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
      dnsConfig: { nameservers: ['192.0.2.53'], options: [{ name: 'ndots', value: '2' }] },
      hostAliases: [{ ip: '192.0.2.1', hostnames: ['kafka'] }],
    },
  },
  'an image by digest, from a private registry': {
    image: { digest: `sha256:${'ab'.repeat(32)}`, pullSecrets: ['registry'] },
  },
  KEDA: { partitions: 12, scaling: { keda: { minReplicas: 0 } } },
  'KEDA at brokers with credentials': {
    partitions: 12,
    scaling: { keda: {} },
    kafka: { existingSecret: 'brokers' },
    application: { kafka: { ssl: true, sasl: { mechanism: 'scram-sha-512' } } },
  },
  'an HPA': {
    partitions: 12,
    scaling: {
      hpa: { cpuPercent: 75, memoryPercent: 90, external: { metric: 'lag', labels: { a: 'b' }, averageValue: 100 } },
    },
  },
  'a policy with every kind of place': {
    networkPolicy: {
      ingress: [{ cidr: '10.0.0.0/8' }, { namespace: 'monitoring', podLabels: { app: 'prometheus' } }],
      egress: {
        dns: [{ namespace: 'kube-system', ports: [53, 5353] }],
        brokers: [{ cidr: '2001:db8::/32' }],
        database: [{ podLabels: { app: 'postgres' } }],
        others: [{ ports: [8081] }],
      },
    },
  },
  ...Object.fromEntries(
    ['podMonitor', 'scrapeConfig', 'annotations', 'none'].map((scrape) => [
      `scraped by ${scrape}`,
      { monitoring: { scrape, labels: { release: 'kube-prometheus-stack' } } },
    ]),
  ),
  ...Object.fromEntries(
    ['serviceMonitor', 'podMonitor', 'scrapeConfig'].map((scrape) => [
      `scraped by ${scrape} with TLS and a credential`,
      {
        monitoring: {
          scrape,
          tls: { existingSecret: 'certificate' },
          credentials: { existingSecret: 'actuator', type: 'basic' },
        },
      },
    ]),
  ),
  'series of several clusters in one ruler': { monitoring: { matchers: { cluster: 'eu-1' } } },
  'tables by a Job': {
    database: { migrate: 'job', owner: { existingSecret: 'owner' } },
    pods: { tolerations: [{ operator: 'Exists' }] },
  },
  'Secrets as files, made by operators': {
    secrets: { as: 'files' },
    database: { externalSecret: { store: 'vault', remoteKey: 'database' } },
    kafka: { existingSecret: 'brokers', sealedSecret: { encryptedData: { password: 'x'.repeat(120) } } },
    application: { kafka: { sasl: { mechanism: 'plain' } } },
  },
  'Pods with much to say': {
    pods: {
      labels: { team: 'payments' },
      annotations: { 'example.com/note': 'x' },
      environment: { TZ: 'UTC' },
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'a', value: 'b', effect: 'NoExecute', tolerationSeconds: 60 }],
      priorityClassName: 'high',
      spread: false,
    },
  },
  'Pods with parts of the user': {
    pods: {
      volumes: [{ name: 'cache', emptyDir: { sizeLimit: '64Mi' } }],
      volumeMounts: [{ name: 'cache', mountPath: '/var/cache/stream-consumer' }],
      envFrom: [{ secretRef: { name: 'more' } }],
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'rack' }] } },
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
      initContainers: [{ name: 'wait', image: 'busybox:1.36', resources: SMALL }],
      sidecars: [{ name: 'proxy', image: 'proxy:2', startupProbe: { tcpSocket: { port: 5432 } }, resources: SMALL }],
    },
    database: { migrate: 'job', owner: { existingSecret: 'owner' } },
  },
  'Pods that are looked at before the consumer begins, with parts of the user': {
    pods: {
      doctor: true,
      volumes: [{ name: 'cache', emptyDir: { sizeLimit: '64Mi' } }],
      volumeMounts: [{ name: 'cache', mountPath: '/var/cache/stream-consumer' }],
      envFrom: [{ secretRef: { name: 'more' } }],
      sidecars: [{ name: 'proxy', image: 'proxy:2', startupProbe: { tcpSocket: { port: 5432 } }, resources: SMALL }],
    },
    database: { migrate: 'job', owner: { existingSecret: 'owner' } },
  },
  'certificates for Kafka and PostgreSQL, for KEDA too': {
    partitions: 3,
    scaling: { keda: {} },
    kafka: {
      tls: {
        ca: { existingConfigMap: 'company-ca' },
        clientCertificate: { existingSecret: 'orders', keys: { certificate: 'user.crt', privateKey: 'user.key' } },
      },
    },
    database: {
      tls: { ca: { existingSecret: 'database-ca' }, clientCertificate: { existingSecret: 'client' } },
      migrate: 'job',
      owner: { existingSecret: 'owner' },
    },
    application: { kafka: { ssl: true } },
  },
  'a schema registry with a login, certificates and a place': {
    schemaRegistry: {
      existingSecret: 'registry',
      keys: { username: 'user' },
      externalSecret: { store: 'vault', remoteKey: 'registry' },
      tls: { ca: { existingConfigMap: 'company-ca' }, clientCertificate: { existingSecret: 'registry-client' } },
    },
    networkPolicy: { egress: { schemaRegistry: [{ namespace: 'registry', podLabels: { app: 'registry' } }] } },
    application: {
      schemaRegistry: { url: ['https://a.example.com', 'https://b.example.com:8443'] },
      formats: { orders: { key: 'registry', value: ['registry', 'json'] } },
    },
  },
  'a schema registry with OAuth, by variables': {
    secrets: { as: 'environment' },
    schemaRegistry: {
      existingSecret: 'registry',
      sealedSecret: { encryptedData: { clientSecret: 'x'.repeat(120) } },
    },
    application: {
      schemaRegistry: {
        url: 'https://registry.example.com',
        oauth: { tokenEndpoint: 'https://id.example.com/token', clientId: 'c', logicalCluster: 'lsrc-1' },
      },
      formats: { orders: 'registry' },
    },
  },
  'files with schemas, in folders too': {
    files: { 'audit.avsc': '"long"', 'acme/tick.proto': 'syntax = "proto3"; message Tick {}' },
    application: {
      formats: { orders: { key: { avro: 'audit.avsc' }, value: { protobuf: 'acme/tick.proto', message: 'Tick' } } },
    },
  },
  "a ServiceAccount with a cloud's role": {
    serviceAccount: {
      name: 'orders-reader',
      annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/orders' },
      labels: { team: 'payments' },
    },
  },
};
