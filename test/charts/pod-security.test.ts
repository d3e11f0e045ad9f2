import { describe, expect, test } from '@jest/globals';
import { type PodSpec, restrictedViolations } from './pod-security.ts';
import { deploymentSpec, renderedConsumer } from './rendered-consumer.ts';

const pod = deploymentSpec(renderedConsumer()).template.spec;
const { containers, ...withoutContainers } = pod;

/** The consumer's Pod with one thing changed in its container, or in the container's security context. */
const changedContainer = (change: object, context: object = {}): PodSpec => ({
  ...withoutContainers,
  containers: containers.map((each) => ({
    ...each,
    ...change,
    securityContext: { ...each.securityContext, ...context },
  })),
});

test('the Pod that the mutations begin with is restricted', () => {
  expect(restrictedViolations(pod)).toEqual([]);
});

describe('the checker of "restricted"', () => {
  test.each<[string, object]>([
    ['hostNetwork', { hostNetwork: true }],
    ['hostPID', { hostPID: true }],
    ['hostIPC', { hostIPC: true }],
    ['volumes', { volumes: [{ name: 'node', hostPath: { path: '/' } }] }],
    ['sysctls', { securityContext: { ...pod.securityContext, sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }],
    ['pod runAsUser', { securityContext: { ...pod.securityContext, runAsUser: 0 } }],
    ['pod runAsNonRoot', { securityContext: { ...pod.securityContext, runAsNonRoot: false } }],
    ['pod seccompProfile', { securityContext: { ...pod.securityContext, seccompProfile: { type: 'Unconfined' } } }],
    ['pod appArmorProfile', { securityContext: { ...pod.securityContext, appArmorProfile: { type: 'Unconfined' } } }],
    ['pod seLinuxOptions', { securityContext: { ...pod.securityContext, seLinuxOptions: { type: 'spc_t' } } }],
    ['pod hostProcess', { securityContext: { ...pod.securityContext, windowsOptions: { hostProcess: true } } }],
  ])('sees a Pod that breaks %s', (rule, change) => {
    expect(restrictedViolations({ ...pod, ...change })).toEqual([rule]);
  });

  test.each<[string, object]>([
    ['privileged', { privileged: true }],
    ['allowPrivilegeEscalation', { allowPrivilegeEscalation: undefined }],
    ['capabilities.drop', { capabilities: {} }],
    ['capabilities.add', { capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } }],
    ['runAsNonRoot', { runAsNonRoot: false }],
    ['runAsUser', { runAsUser: 0 }],
    ['procMount', { procMount: 'Unmasked' }],
    ['seccompProfile', { seccompProfile: { type: 'Unconfined' } }],
    ['appArmorProfile', { appArmorProfile: { type: 'Unconfined' } }],
    ['seLinuxOptions', { seLinuxOptions: { user: 'system_u' } }],
    ['hostProcess', { windowsOptions: { hostProcess: true } }],
  ])('sees a container that breaks %s', (rule, context) => {
    expect(restrictedViolations(changedContainer({}, context))).toEqual([`consumer: ${rule}`]);
  });

  test('sees a port of the node', () => {
    expect(restrictedViolations(changedContainer({ ports: [{ containerPort: 80, hostPort: 80 }] }))).toEqual([
      'consumer: hostPort',
    ]);
  });

  test.each<[string, object]>([
    ['livenessProbe', { livenessProbe: { httpGet: { path: '/', port: 80, host: '169.254.169.254' } } }],
    ['readinessProbe', { readinessProbe: { tcpSocket: { port: 80, host: '127.0.0.1' } } }],
    ['startupProbe', { startupProbe: { tcpSocket: { port: 80, host: '10.0.0.1' } } }],
    ['postStart', { lifecycle: { postStart: { httpGet: { port: 80, host: '10.0.0.1' } } } }],
    ['preStop', { lifecycle: { preStop: { httpGet: { port: 80, host: '10.0.0.1' } } } }],
  ])('sees that the kubelet is to ask another host: %s', (_, change) => {
    expect(restrictedViolations(changedContainer(change))).toEqual(['consumer: host of a probe or hook']);
  });

  test('sees what neither the container nor its Pod says', () => {
    const { securityContext: _, ...rest } = changedContainer(
      {},
      { seccompProfile: undefined, runAsNonRoot: undefined },
    );
    expect(restrictedViolations(rest)).toEqual(['consumer: runAsNonRoot', 'consumer: no seccompProfile']);
  });

  test.each(['initContainers', 'ephemeralContainers'])('looks at %s, too', (kind) => {
    expect(restrictedViolations({ ...pod, [kind]: [{ name: 'other' }] })).toContain('other: capabilities.drop');
  });

  test.each([
    ['NET_BIND_SERVICE', changedContainer({}, { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } })],
    ['a safe sysctl', { ...pod, securityContext: { sysctls: [{ name: 'net.ipv4.tcp_syncookies' }] } }],
  ])('lets %s pass', (_, allowed) => {
    expect(restrictedViolations(allowed)).toEqual([]);
  });
});
