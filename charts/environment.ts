import type { k8s } from 'cdk8s-plus-28';
import { CONTAINER_PATH } from '../contract/container-paths.ts';
import type { Workload } from '../contract/workload.ts';
import { heapMebibytes } from './heap-size.ts';

const plain = (name: string, value: string): k8s.EnvVar => ({ name, value });

const fromSecret = (name: string, secret: string, key: string): k8s.EnvVar => ({
  name,
  valueFrom: { secretKeyRef: { name: secret, key } },
});

/** A key that the Secret need not have: the value may stand elsewhere, in the URL for instance. */
const perhapsFromSecret = (name: string, secret: string, key: string): k8s.EnvVar => ({
  name,
  valueFrom: { secretKeyRef: { name: secret, key, optional: true } },
});

function databaseCredentials({ file: { database } }: Workload): k8s.EnvVar[] {
  const {
    existingSecret: secret,
    keys: { url, user, password },
  } = database;
  return [
    fromSecret('DATABASE_URL', secret, url),
    perhapsFromSecret('DATABASE_USER', secret, user),
    perhapsFromSecret('DATABASE_PASSWORD', secret, password),
  ];
}

function kafkaCredentials({ file: { kafka } }: Workload): k8s.EnvVar[] {
  if (kafka === undefined) {
    return [];
  }
  return [
    perhapsFromSecret('KAFKA_SASL_USERNAME', kafka.existingSecret, kafka.keys.username),
    fromSecret('KAFKA_SASL_PASSWORD', kafka.existingSecret, kafka.keys.password),
  ];
}

function managementCredentials({ file: { monitoring } }: Workload): k8s.EnvVar[] {
  if (monitoring.credentials === undefined) {
    return [];
  }
  const { existingSecret, type, keys } = monitoring.credentials;
  return type === 'bearer'
    ? [fromSecret('MANAGEMENT_SECURITY_TOKEN', existingSecret, keys.token)]
    : [
        fromSecret('MANAGEMENT_SECURITY_USERNAME', existingSecret, keys.username),
        fromSecret('MANAGEMENT_SECURITY_PASSWORD', existingSecret, keys.password),
      ];
}

/** By its name alone nobody finds a Pod. */
function adminRegistration({ file: { monitoring }, settings }: Workload): k8s.EnvVar[] {
  const { springBootAdmin } = monitoring;
  if (settings.spring.boot.admin.client.url.length === 0) {
    return [];
  }
  const address: k8s.EnvVar = {
    name: 'POD_IP',
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } },
  };
  return springBootAdmin === undefined
    ? [address]
    : [
        address,
        fromSecret('SPRING_BOOT_ADMIN_CLIENT_USERNAME', springBootAdmin.existingSecret, springBootAdmin.keys.username),
        fromSecret('SPRING_BOOT_ADMIN_CLIENT_PASSWORD', springBootAdmin.existingSecret, springBootAdmin.keys.password),
      ];
}

/** The container's environment: where its configuration is, how large its heap may grow, and what the Secrets hold. */
export function environment(workload: Workload): k8s.EnvVar[] {
  return [
    plain('CONFIG_FILE', `${CONTAINER_PATH.configuration}/${CONTAINER_PATH.configurationFile}`),
    plain('NODE_OPTIONS', `--max-old-space-size=${heapMebibytes(workload.file.resources.limits.memory)}`),
    ...databaseCredentials(workload),
    ...kafkaCredentials(workload),
    ...managementCredentials(workload),
    ...adminRegistration(workload),
  ];
}
