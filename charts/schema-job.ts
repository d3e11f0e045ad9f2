import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { CONTAINER_NAME } from '../contract/container.ts';
import { type CheckedWorkload, objectMetadata, recommendedLabels } from '../deployment/checked-workload.ts';
import { contentHash } from '../deployment/sections/object-names.ts';
import { isMeant } from '../deployment/sections/patches.ts';
import { baseContainer } from './container.ts';
import { jobPodParts } from './pod-parts.ts';
import { podMetadata, podSpec } from './pod-template.ts';
import { credentials } from './secrets.ts';

const ATTEMPTS = 6;

/** With PostgreSQL away for longer the Job fails visibly; applied again under another name it begins anew. */
const DEADLINE_SECONDS = 600;

/** Pods of another instance and component: no selector of the consumer finds them. */
function podLabels({ labels, names }: CheckedWorkload): Record<string, string> {
  const version = labels['app.kubernetes.io/version'] ?? '';
  return { ...recommendedLabels(names.schemaJob, version), 'app.kubernetes.io/component': 'schema' };
}

/**
 * The Job that creates and upgrades the tables as their owner, where `database.migrate` is `job`. A Job can't be
 * changed, so its name holds a hash of its content: whatever changes makes a new one. It is not removed when it is
 * done, because a GitOps controller would make it again each time.
 */
export function schemaJob(scope: Construct, workload: CheckedWorkload, configMap: ApiObject): ApiObject | undefined {
  const { migrate, owner, job: own } = workload.file.database;
  if (migrate !== 'job' || owner === undefined) {
    return undefined;
  }
  const ownerCredentials = credentials(workload, owner);
  const container: k8s.Container = {
    ...baseContainer(workload, ownerCredentials),
    name: CONTAINER_NAME.migrate,
    args: ['migrate'],
  };
  const spec: k8s.JobSpec = {
    backoffLimit: ATTEMPTS,
    activeDeadlineSeconds: DEADLINE_SECONDS,
    template: {
      metadata: podMetadata(workload, podLabels(workload)),
      spec: { ...podSpec(workload, configMap.name, [container], ownerCredentials), restartPolicy: 'OnFailure' },
    },
  };
  const parts = jobPodParts(workload);
  const named = { kind: 'Job', name: workload.names.schemaJob };
  const patches = workload.file.patches.filter((each) => each.kind === 'Job' || isMeant(each, named));
  const more = [...parts, ...patches];
  const content = JSON.stringify(k8s.toJson_JobSpec(spec)) + (more.length === 0 ? '' : JSON.stringify(more));
  const job = new ApiObject(
    scope,
    'schema-job',
    k8s.KubeJob.manifest({
      metadata: {
        ...objectMetadata(workload, `${workload.names.schemaJob}-${contentHash(content)}`),
        ...(Object.keys(own.annotations).length > 0 && { annotations: own.annotations }),
      },
      spec,
    }),
  );
  job.addJsonPatch(...parts);
  return job;
}
