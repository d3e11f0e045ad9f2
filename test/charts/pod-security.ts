/** The parts of a Pod that the Pod Security Standards look at. */
export interface PodSpec {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext?: SecurityContext;
  readonly volumes?: readonly Record<string, unknown>[];
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
}

interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seccompProfile?: { readonly type?: string };
  readonly appArmorProfile?: { readonly type?: string };
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string };
  readonly windowsOptions?: { readonly hostProcess?: boolean };
  readonly sysctls?: readonly { readonly name: string }[];
}

/** What the kubelet asks by itself, of a host that could be any. */
interface Action {
  readonly httpGet?: { readonly host?: string };
  readonly tcpSocket?: { readonly host?: string };
}

interface Container {
  readonly name: string;
  readonly livenessProbe?: Action;
  readonly readinessProbe?: Action;
  readonly startupProbe?: Action;
  readonly lifecycle?: { readonly postStart?: Action; readonly preStop?: Action };
  readonly ports?: readonly { readonly hostPort?: number }[];
  readonly securityContext?: SecurityContext & {
    readonly privileged?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly procMount?: string;
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

const PROFILE_TYPES: readonly unknown[] = ['RuntimeDefault', 'Localhost'];

const SELINUX_TYPES: readonly unknown[] = [
  undefined,
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
];

/** Settings of the kernel that concern the Pod alone. */
const SAFE_SYSCTLS: readonly string[] = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];

/** What holds for a Pod's context and for a container's alike. */
function contextChecks(context: SecurityContext): [string, boolean][] {
  const { seccompProfile, appArmorProfile, seLinuxOptions, windowsOptions } = context;
  return [
    ['seccompProfile', seccompProfile === undefined || PROFILE_TYPES.includes(seccompProfile.type)],
    ['appArmorProfile', appArmorProfile === undefined || PROFILE_TYPES.includes(appArmorProfile.type)],
    ['seLinuxOptions', SELINUX_TYPES.includes(seLinuxOptions?.type) && !seLinuxOptions?.user && !seLinuxOptions?.role],
    ['hostProcess', windowsOptions?.hostProcess !== true],
    ['runAsUser', context.runAsUser !== 0],
  ];
}

/** Since Kubernetes 1.34: the kubelet must ask the Pod itself. */
function asksOnlyItself({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): boolean {
  const actions = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  return actions.every((action) => !action?.httpGet?.host && !action?.tcpSocket?.host);
}

function containerViolations(container: Container, pod: PodSpec): string[] {
  const own = container.securityContext ?? {};
  const add = (own.capabilities?.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE');
  const checks: [string, boolean][] = [
    ['privileged', own.privileged !== true],
    ['allowPrivilegeEscalation', own.allowPrivilegeEscalation === false],
    ['capabilities.drop', own.capabilities?.drop?.includes('ALL') === true],
    ['capabilities.add', add.length === 0],
    ['runAsNonRoot', (own.runAsNonRoot ?? pod.securityContext?.runAsNonRoot) === true],
    ['procMount', own.procMount === undefined || own.procMount === 'Default'],
    ['no seccompProfile', (own.seccompProfile ?? pod.securityContext?.seccompProfile) !== undefined],
    ...contextChecks(own),
    ['hostPort', (container.ports ?? []).every(({ hostPort }) => (hostPort ?? 0) === 0)],
    ['host of a probe or hook', asksOnlyItself(container)],
  ];
  return checks.filter(([, holds]) => !holds).map(([rule]) => `${container.name}: ${rule}`);
}

/** Names of the rules of Pod Security "restricted" that a Pod breaks. */
export function restrictedViolations(pod: PodSpec): string[] {
  const containers = [...pod.containers, ...(pod.initContainers ?? []), ...(pod.ephemeralContainers ?? [])];
  const volumes = (pod.volumes ?? []).flatMap((volume) => Object.keys(volume).filter((key) => key !== 'name'));
  const checks: [string, boolean][] = [
    ['hostNetwork', pod.hostNetwork !== true],
    ['hostPID', pod.hostPID !== true],
    ['hostIPC', pod.hostIPC !== true],
    ['sysctls', (pod.securityContext?.sysctls ?? []).every(({ name }) => SAFE_SYSCTLS.includes(name))],
    ['pod runAsNonRoot', pod.securityContext?.runAsNonRoot !== false],
    ...contextChecks(pod.securityContext ?? {}).map(([rule, holds]): [string, boolean] => [`pod ${rule}`, holds]),
    ['volumes', volumes.every((type) => ALLOWED_VOLUMES.includes(type))],
  ];
  return [
    ...checks.filter(([, holds]) => !holds).map(([rule]) => rule),
    ...containers.flatMap((container) => containerViolations(container, pod)),
  ];
}

/** The Pods that an object makes: none but for a Deployment, a Job and their like. */
export function podSpecs(manifest: { readonly [field: string]: unknown }): PodSpec[] {
  const { template } = (manifest['spec'] ?? {}) as { readonly template?: { readonly spec?: PodSpec } };
  return template?.spec?.containers === undefined ? [] : [template.spec];
}
