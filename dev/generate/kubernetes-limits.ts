import { labelKey, labelValue, objectName, SECRET_KEY } from '../../deployment/sections/object-names.ts';
import { ALLOWED, type SchemaNode } from '../../settings/schema/schema.ts';

/*
 * What the API server checks of single values, and its published schemas do not say: ranges, names and choices, as
 * ValidatePodTemplateSpec of Kubernetes has them (pkg/apis/core/validation/validation.go).
 */

const dnsLabel = {
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  maxLength: 63,
  [ALLOWED]: 'a name of at most 63 lower-case letters, digits and dashes',
};

const objectNameOrNone = { ...objectName, pattern: `^$|${objectName.pattern}` };

const dataKey = { pattern: SECRET_KEY, [ALLOWED]: 'a key of a Secret or ConfigMap: letters, digits, and any of - _ .' };

const PORT_NAME = '^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$';

const portName = { pattern: PORT_NAME, [ALLOWED]: 'a name of at most 15 lower-case letters, digits and dashes' };

const portNumber = { minimum: 1, maximum: 65_535 };

const namedPort = {
  anyOf: [
    { type: 'integer', ...portNumber },
    { type: 'string', pattern: PORT_NAME },
  ],
  [ALLOWED]: 'a port from 1 to 65535, or the name of one',
};

const variable = { pattern: '^[ -<>-~]+$', [ALLOWED]: 'the name of a variable: printable ASCII without =' };

/** Below the volume: no path that leaves it. */
const innerPath = {
  pattern: '^(?!/)(?!\\.\\.)(?!.*/\\.\\.(/|$)).+$',
  [ALLOWED]: 'a path within the volume, without .. in it',
};

/** An address; the API server reads it more strictly. */
const address = {
  pattern: '^(\\d{1,3}(\\.\\d{1,3}){3}|(?=.*:.*:)[0-9a-fA-F:]+(:\\d{1,3}(\\.\\d{1,3}){3})?)$',
  [ALLOWED]: 'an IPv4 or IPv6 address',
};

const searchedDomain = {
  pattern: '^(\\.|[a-z0-9_]([-_a-z0-9]*[a-z0-9_])?([.][a-z0-9_]([-_a-z0-9]*[a-z0-9_])?)*[.]?)$',
  maxLength: 254,
  [ALLOWED]: 'a domain of lower-case letters, digits, dashes and underscores',
};

const fileMode = { minimum: 0, maximum: 511 };
const natural = { minimum: 0 };
const positive = { minimum: 1 };
const percent = { minimum: 1, maximum: 100 };
const choice = (...choices: readonly string[]) => ({ enum: choices });

const keyed = { key: dataKey, name: objectNameOrNone };
const named = { name: objectNameOrNone };

/** By the name of the type and of its field. */
export const KUBERNETES_LIMITS: Readonly<Record<string, Readonly<Record<string, SchemaNode>>>> = {
  ConfigMapEnvSource: named,
  ConfigMapKeySelector: keyed,
  ConfigMapProjection: named,
  ConfigMapVolumeSource: { ...named, defaultMode: fileMode },
  Container: {
    name: dnsLabel,
    image: { pattern: '^\\S+$', [ALLOWED]: 'an image' },
    imagePullPolicy: choice('Always', 'IfNotPresent', 'Never'),
    terminationMessagePolicy: choice('File', 'FallbackToLogsOnError'),
  },
  ContainerPort: { containerPort: portNumber, name: portName, protocol: choice('TCP', 'UDP', 'SCTP') },
  ContainerResizePolicy: {
    resourceName: choice('cpu', 'memory'),
    restartPolicy: choice('NotRequired', 'RestartContainer'),
  },
  DownwardAPIVolumeFile: { mode: fileMode, path: innerPath },
  DownwardAPIVolumeSource: { defaultMode: fileMode },
  EmptyDirVolumeSource: {
    medium: { pattern: '^(|Memory|HugePages(-.+)?)$', [ALLOWED]: 'nothing, Memory, HugePages or HugePages-<size>' },
  },
  EnvVar: { name: variable },
  GRPCAction: { port: portNumber },
  HostAlias: { ip: address, hostnames: { items: { type: 'string', ...objectName }, minItems: 1 } },
  HTTPGetAction: { port: namedPort, scheme: choice('HTTP', 'HTTPS') },
  KeyToPath: { key: dataKey, mode: fileMode, path: innerPath },
  LabelSelectorRequirement: { key: labelKey, operator: choice('In', 'NotIn', 'Exists', 'DoesNotExist') },
  NodeSelectorRequirement: {
    key: labelKey,
    operator: choice('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
    values: { items: { type: 'string', ...labelValue } },
  },
  PersistentVolumeClaimVolumeSource: { claimName: objectName },
  PodAffinityTerm: { topologyKey: labelKey, namespaces: { items: { type: 'string', ...dnsLabel } } },
  PodDNSConfig: {
    nameservers: { items: { type: 'string', ...address }, maxItems: 3 },
    searches: { items: { type: 'string', ...searchedDomain }, maxItems: 32 },
  },
  PodDNSConfigOption: { name: { minLength: 1 } },
  PreferredSchedulingTerm: { weight: percent },
  Probe: {
    initialDelaySeconds: natural,
    periodSeconds: natural,
    timeoutSeconds: natural,
    successThreshold: natural,
    failureThreshold: natural,
    terminationGracePeriodSeconds: positive,
  },
  ProjectedVolumeSource: { defaultMode: fileMode },
  SecretEnvSource: named,
  SecretKeySelector: keyed,
  SecretProjection: named,
  SecretVolumeSource: { secretName: objectNameOrNone, defaultMode: fileMode },
  SecurityContext: {
    runAsUser: { minimum: 0, maximum: 2_147_483_647 },
    runAsGroup: { minimum: 0, maximum: 2_147_483_647 },
  },
  ServiceAccountTokenProjection: { expirationSeconds: { minimum: 600, maximum: 4_294_967_296 }, path: innerPath },
  TCPSocketAction: { port: namedPort },
  TopologySpreadConstraint: {
    maxSkew: positive,
    minDomains: positive,
    topologyKey: labelKey,
    whenUnsatisfiable: choice('DoNotSchedule', 'ScheduleAnyway'),
    nodeAffinityPolicy: choice('Honor', 'Ignore'),
    nodeTaintsPolicy: choice('Honor', 'Ignore'),
  },
  Volume: { name: dnsLabel },
  VolumeMount: {
    mountPropagation: choice('None', 'HostToContainer', 'Bidirectional'),
    recursiveReadOnly: choice('Disabled', 'Enabled', 'IfPossible'),
  },
  WeightedPodAffinityTerm: { weight: percent },
};
