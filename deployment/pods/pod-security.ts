import { CONTAINER_USER } from '../../contract/container.ts';
import { isSection, type Section, sectionOf, valueAt } from '../../settings/schema/document.ts';
import type { Problem } from '../../settings/schema/problem.ts';

/** What Pod Security "restricted" asks of a container, and a read-only root file system. */
const SECURITY_CONTEXT = {
  runAsNonRoot: true,
  runAsUser: CONTAINER_USER.uid,
  runAsGroup: CONTAINER_USER.gid,
  allowPrivilegeEscalation: false,
  privileged: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

const { runAsUser: _user, runAsGroup: _group, ...OF_ANY_USER } = SECURITY_CONTEXT;

/** @param userFromCluster whether the cluster chooses the user, as OpenShift does, and refuses one that is named */
export const securityContext = (userFromCluster: boolean) => (userFromCluster ? OF_ANY_USER : SECURITY_CONTEXT);

/** The same for a whole Pod, whose volumes belong to its group. @param userFromCluster as above */
export const podSecurityContext = (userFromCluster: boolean) => ({
  runAsNonRoot: true,
  ...(!userFromCluster && {
    runAsUser: CONTAINER_USER.uid,
    runAsGroup: CONTAINER_USER.gid,
    fsGroup: CONTAINER_USER.gid,
  }),
  seccompProfile: { type: 'RuntimeDefault' },
});

/** A container as it was written, with our security context wherever its own says nothing. */
export function securedContainer(container: Section, userFromCluster: boolean): Section {
  const ours = securityContext(userFromCluster);
  const own = sectionOf(container, 'securityContext');
  const capabilities = { ...ours.capabilities, ...sectionOf(own, 'capabilities') };
  return { ...container, securityContext: { ...ours, ...own, capabilities } };
}

const VOLUME_SOURCES: readonly string[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

const PROFILES: readonly unknown[] = [undefined, 'RuntimeDefault', 'Localhost'];

const SELINUX_TYPES: readonly unknown[] = [
  undefined,
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
];

interface Condition {
  /** Below the container. */
  readonly path: readonly string[];
  readonly holds: (value: unknown) => boolean;
  readonly allowed: string;
}

const context = (path: string, allowed: string, holds: (value: unknown) => boolean): Condition => ({
  path: ['securityContext', ...path.split('.')],
  holds,
  allowed,
});

const includes = (value: unknown, item: string): boolean => Array.isArray(value) && value.includes(item);

/** The rules of the standard for a container that has our security context where its own says nothing. */
const CONDITIONS: readonly Condition[] = [
  context('privileged', 'false', (value) => value === false),
  context('allowPrivilegeEscalation', 'false', (value) => value === false),
  context('runAsNonRoot', 'true', (value) => value === true),
  context('runAsUser', 'a user other than 0', (value) => value !== 0),
  context('capabilities.drop', 'a list with ALL', (value) => includes(value, 'ALL')),
  context(
    'capabilities.add',
    'nothing, or NET_BIND_SERVICE alone',
    (value) => value === undefined || (Array.isArray(value) && value.every((each) => each === 'NET_BIND_SERVICE')),
  ),
  context('procMount', 'Default', (value) => value === undefined || value === 'Default'),
  context('seccompProfile.type', 'RuntimeDefault or Localhost', (value) => PROFILES.includes(value)),
  context('appArmorProfile.type', 'RuntimeDefault or Localhost', (value) => PROFILES.includes(value)),
  context('seLinuxOptions.type', 'nothing, or a type of containers such as container_t', (value) =>
    SELINUX_TYPES.includes(value),
  ),
  context('seLinuxOptions.user', 'nothing', (value) => !value),
  context('seLinuxOptions.role', 'nothing', (value) => !value),
  context('windowsOptions.hostProcess', 'false', (value) => value !== true),
  ...['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle.postStart', 'lifecycle.preStop'].flatMap((action) =>
    ['httpGet', 'tcpSocket'].map(
      (kind): Condition => ({
        path: [...action.split('.'), kind, 'host'],
        holds: (value) => !value,
        allowed: 'nothing: the kubelet asks the Pod itself',
      }),
    ),
  ),
];

const REFUSED = 'is refused by the Pod Security standard "restricted", which the namespace enforces';

/** What the standard refuses of a container that has our security context where its own says nothing. */
export function containerSecurityProblems(container: Section, at: string): Problem[] {
  const broken = CONDITIONS.filter(({ path, holds }) => !holds(valueAt(container, path)));
  const ports = Array.isArray(container['ports']) ? container['ports'] : [];
  return [
    ...broken.map(({ path, allowed }) => ({ path: `${at}.${path.join('.')}`, message: REFUSED, allowed })),
    ...ports.flatMap((port, index) =>
      isSection(port) && (port['hostPort'] ?? 0) !== 0
        ? [{ path: `${at}.ports[${index}].hostPort`, message: REFUSED, allowed: 'nothing: containerPort alone' }]
        : [],
    ),
  ];
}

/** What the standard refuses of a volume, or what a volume lacks: it has one source. */
export function volumeSecurityProblems(volume: Section, at: string): Problem[] {
  const sources = Object.keys(volume).filter((key) => key !== 'name');
  const refused = sources.filter((source) => !VOLUME_SOURCES.includes(source));
  const allowed = `one of ${VOLUME_SOURCES.join(', ')}`;
  return sources.length === 1
    ? refused.map((source) => ({ path: `${at}.${source}`, message: REFUSED, allowed }))
    : [{ path: at, message: `has ${sources.length} sources`, allowed }];
}
