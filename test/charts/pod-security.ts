/** The parts of a Pod that the Pod Security Standards look at. */
export interface PodSpec {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext?: SecurityContext;
  readonly volumes?: readonly Record<string, unknown>[];
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seccompProfile?: { readonly type?: string };
  readonly sysctls?: readonly unknown[];
}

interface Container {
  readonly name: string;
  readonly ports?: readonly { readonly hostPort?: number }[];
  readonly securityContext?: SecurityContext & {
    readonly privileged?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
}

const ALLOWED_VOLUMES: readonly string[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

const SECCOMP_TYPES: readonly unknown[] = ['RuntimeDefault', 'Localhost'];

function containerViolations(container: Container, pod: PodSpec): string[] {
  const own = container.securityContext ?? {};
  const add = (own.capabilities?.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE');
  const checks: [string, boolean][] = [
    ['privileged', own.privileged !== true],
    ['allowPrivilegeEscalation', own.allowPrivilegeEscalation === false],
    ['capabilities.drop', own.capabilities?.drop?.includes('ALL') === true],
    ['capabilities.add', add.length === 0],
    ['runAsNonRoot', (own.runAsNonRoot ?? pod.securityContext?.runAsNonRoot) === true],
    ['runAsUser', own.runAsUser !== 0],
    ['seccompProfile', SECCOMP_TYPES.includes((own.seccompProfile ?? pod.securityContext?.seccompProfile)?.type)],
    ['hostPort', (container.ports ?? []).every(({ hostPort }) => (hostPort ?? 0) === 0)],
  ];
  return checks.filter(([, holds]) => !holds).map(([rule]) => `${container.name}: ${rule}`);
}

/** Names of the rules of Pod Security "restricted" that a Pod breaks. */
export function restrictedViolations(pod: PodSpec): string[] {
  const volumes = (pod.volumes ?? []).flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
  const checks: [string, boolean][] = [
    ['hostNetwork', pod.hostNetwork !== true],
    ['hostPID', pod.hostPID !== true],
    ['hostIPC', pod.hostIPC !== true],
    ['sysctls', (pod.securityContext?.sysctls ?? []).length === 0],
    ['pod runAsUser', pod.securityContext?.runAsUser !== 0],
    ['volumes', volumes.every((type) => ALLOWED_VOLUMES.includes(type))],
  ];
  return [
    ...checks.filter(([, holds]) => !holds).map(([rule]) => rule),
    ...[...pod.containers, ...(pod.initContainers ?? [])].flatMap((container) => containerViolations(container, pod)),
  ];
}
