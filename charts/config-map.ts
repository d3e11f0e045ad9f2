import type { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { CONTAINER_PATH } from '../contract/container.ts';
import { type CheckedWorkload, objectMetadata } from '../deployment/checked-workload.ts';
import { applicationYaml } from './application-yaml.ts';
import { contentHash } from './content-hash.ts';

/**
 * The ConfigMap with application.yml. It is immutable and its name holds a hash of its content: a changed setting makes
 * a new one, the Deployment names it, and so the Pods roll; a rollback finds the old one still there.
 */
export function configMap(scope: Construct, workload: CheckedWorkload): ApiObject {
  const content = applicationYaml(workload);
  const name = `${workload.names.configPrefix}-${contentHash(content)}`;
  return new k8s.KubeConfigMap(scope, 'config-map', {
    metadata: objectMetadata(workload, name),
    data: { [CONTAINER_PATH.configurationFile]: content },
    immutable: true,
  });
}
