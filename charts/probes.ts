import { k8s } from 'cdk8s-plus-28';
import type { ManagementEndpoint } from '../contract/actuator.ts';
import type { ProbeTiming } from '../contract/probes.ts';
import type { ProbeSettings } from '../deployment/probes.ts';

function httpProbe({ port, scheme }: ManagementEndpoint, path: string, timing: ProbeTiming): k8s.Probe {
  return { httpGet: { path, port: k8s.IntOrString.fromNumber(port), scheme }, ...timing };
}

/** The probes of the container; the kubelet sends no credential and verifies no certificate. A startup probe is there only when asked for: the initial delays cover the start. */
export function probes(
  endpoint: ManagementEndpoint,
  { paths, liveness, readiness, startup }: ProbeSettings,
): Pick<k8s.Container, 'livenessProbe' | 'readinessProbe' | 'startupProbe'> {
  const isRoot = paths === 'root';
  const livenessPath = isRoot ? endpoint.healthPath : endpoint.livenessPath;
  return {
    livenessProbe: httpProbe(endpoint, livenessPath, liveness),
    readinessProbe: httpProbe(endpoint, isRoot ? endpoint.healthPath : endpoint.readinessPath, readiness),
    ...(startup !== undefined && { startupProbe: httpProbe(endpoint, livenessPath, startup) }),
  };
}
