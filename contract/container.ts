/** Paths inside the container that the image and the Deployment agree on. */
export const CONTAINER_PATH = {
  /** Folder that the image holds the program in. */
  program: '/app',
  /** Folder that the ConfigMap is mounted at. */
  configuration: '/etc/stream-consumer',
  /** The ConfigMap's key and so the file's name in that folder. */
  configurationFile: 'application.yml',
  /**
   * Folder that the Secret with the certificate is mounted at; a separate folder, so that the kubelet can renew it.
   */
  certificate: '/etc/stream-consumer-tls',
  /**
   * Folders of the authorities and client certificates for Kafka, PostgreSQL and the schema registry; each a volume,
   * so that the kubelet renews it.
   */
  kafkaAuthority: '/etc/stream-consumer-kafka-ca',
  kafkaCertificate: '/etc/stream-consumer-kafka-tls',
  databaseAuthority: '/etc/stream-consumer-database-ca',
  databaseCertificate: '/etc/stream-consumer-database-tls',
  schemaRegistryAuthority: '/etc/stream-consumer-schema-registry-ca',
  schemaRegistryCertificate: '/etc/stream-consumer-schema-registry-tls',
  /** Folder of the Secrets' files, a config tree, where they are not in the environment. */
  secrets: '/etc/stream-consumer-secrets',
  /** The one folder that can be written to. */
  temporary: '/tmp',
} as const;

/** Names of the manifests' own volumes. */
export const VOLUME = {
  configuration: 'configuration',
  certificate: 'certificate',
  kafkaAuthority: 'kafka-ca',
  kafkaCertificate: 'kafka-certificate',
  databaseAuthority: 'database-ca',
  databaseCertificate: 'database-certificate',
  schemaRegistryAuthority: 'schema-registry-ca',
  schemaRegistryCertificate: 'schema-registry-certificate',
  secrets: 'secrets',
  temporary: 'temporary',
} as const;

/**
 * Names of the manifests' own containers: those of the Deployment's Pods, of which one may look at all that the other
 * needs before it begins, and that of the Job which migrates.
 */
export const CONTAINER_NAME = { consumer: 'consumer', doctor: 'doctor', migrate: 'migrate' } as const;

/**
 * User and group that the image names and the Pod enforces. Numeric, because the kubelet can't see from a name that it
 * is not root; above 10,000, so that no user of the node has the same number.
 */
export const CONTAINER_USER = { uid: 10_001, gid: 10_001 } as const;
