import type { k8s } from 'cdk8s-plus-28';
import { CONTAINER_PATH } from '../contract/container.ts';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { environmentName } from '../settings/setting-list.ts';
import { heapMebibytes } from './heap-size.ts';
import type { Credential } from './secrets.ts';

const plain = (name: string, value: string): k8s.EnvVar => ({ name, value });

const fromSecret = ({ setting, secret, key, isOptional }: Credential): k8s.EnvVar => ({
  name: environmentName(setting),
  valueFrom: { secretKeyRef: { name: secret, key, ...(isOptional && { optional: true }) } },
});

/** By its name alone nobody finds a Pod. */
function ownAddress({ settings }: CheckedWorkload): k8s.EnvVar[] {
  return settings.spring.boot.admin.client.url.length === 0
    ? []
    : [{ name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } }];
}

/**
 * The container's environment: where its configuration is, how large its heap may grow, what consumer.yaml adds, and what
 * the Secrets hold, or where the files with it are.
 */
export function environment(workload: CheckedWorkload, credentials: readonly Credential[]): k8s.EnvVar[] {
  const { file } = workload;
  return [
    plain('CONFIG_FILE', `${CONTAINER_PATH.configuration}/${CONTAINER_PATH.configurationFile}`),
    plain('NODE_OPTIONS', `--max-old-space-size=${heapMebibytes(file.resources.limits.memory)}`),
    ...Object.entries(file.pods.environment).map(([name, value]) => plain(name, value)),
    ...ownAddress(workload),
    ...(file.secrets.as === 'files' ? [plain('CONFIG_TREE', CONTAINER_PATH.secrets)] : credentials.map(fromSecret)),
  ];
}
