import { k8s } from 'cdk8s-plus-28';
import type { ManagementEndpoint } from '../contract/actuator.ts';
import type { ProbeSettings } from '../contract/consumer-file/probes.ts';
import type { ProbeTiming } from '../contract/probes.ts';

function httpProbe({ port, scheme }: ManagementEndpoint, path: string, timing: ProbeTiming): k8s.Probe {
  return { httpGet: { path, port: k8s.IntOrString.fromNumber(port), scheme }, ...timing };
}

/** The two probes of the container; the kubelet sends no credential and verifies no certificate. There is no startup probe: the initial delays cover the start. */
export function probes(
  endpoint: ManagementEndpoint,
  { paths, liveness, readiness }: ProbeSettings,
): Pick<k8s.Container, 'livenessProbe' | 'readinessProbe'> {
  const isRoot = paths === 'root';
  return {
    livenessProbe: httpProbe(endpoint, isRoot ? endpoint.healthPath : endpoint.livenessPath, liveness),
    readinessProbe: httpProbe(endpoint, isRoot ? endpoint.healthPath : endpoint.readinessPath, readiness),
  };
}
