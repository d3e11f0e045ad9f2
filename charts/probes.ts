import { k8s } from 'cdk8s-plus-28';
import type { ManagementEndpoint } from '../contract/actuator.ts';
import { LIVENESS_PROBE, type ProbeTiming, READINESS_PROBE } from '../contract/probes.ts';

function httpProbe({ port, scheme }: ManagementEndpoint, path: string, timing: ProbeTiming): k8s.Probe {
  return { httpGet: { path, port: k8s.IntOrString.fromNumber(port), scheme }, ...timing };
}

/**
 * The two probes of the container. There is no startup probe: the initial delays cover the start.
 *
 * @param paths `root`: both ask the whole health; `groups`: each asks its own group.
 */
export function probes(
  endpoint: ManagementEndpoint,
  paths: 'root' | 'groups',
): Pick<k8s.Container, 'livenessProbe' | 'readinessProbe'> {
  const isRoot = paths === 'root';
  return {
    livenessProbe: httpProbe(endpoint, isRoot ? endpoint.healthPath : endpoint.livenessPath, LIVENESS_PROBE),
    readinessProbe: httpProbe(endpoint, isRoot ? endpoint.healthPath : endpoint.readinessPath, READINESS_PROBE),
  };
}
