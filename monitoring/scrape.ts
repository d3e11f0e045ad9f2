import { SERIES_BUDGET } from '../contract/metrics.ts';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { isTemplate } from '../settings/sections/tables/topic-template.ts';
import { tablesOf, topicsOf } from '../settings/sections/tables.ts';

const LONGEST_TIMEOUT_SECONDS = 10;

/** A scrape that waits as long as the interval holds up the next one. */
const TIMEOUT_SHARE = 2 / 3;

/**
 * Beyond so many series Prometheus refuses the scrape as a whole: twice what the named topics and tables take, since
 * partitions are not known here. A template takes topics that nobody has counted.
 */
function sampleLimit(settings: CheckedWorkload['settings']): number {
  const { base, perTopic, perTable } = SERIES_BUDGET;
  const topics = topicsOf(settings);
  const named = base + perTopic * (topics.length - 1) + perTable * tablesOf(settings).length;
  return topics.some(isTemplate)
    ? SERIES_BUDGET.sampleLimitOfTemplates
    : Math.max(SERIES_BUDGET.sampleLimit, 2 * named);
}

/** What every scrape job says, whether of the operator or of a plain Prometheus. */
export function scrapeSettings({ endpoint, file, settings }: CheckedWorkload) {
  const interval = file.monitoring.scrapeIntervalSeconds;
  const timeoutSeconds = Math.min(Math.floor(interval * TIMEOUT_SHARE), LONGEST_TIMEOUT_SECONDS);
  return {
    path: endpoint.prometheusPath,
    scheme: endpoint.scheme.toLowerCase() as Lowercase<typeof endpoint.scheme>,
    interval: `${interval}s`,
    timeoutSeconds,
    timeout: `${timeoutSeconds}s`,
    sampleLimit: sampleLimit(settings),
    labelLimit: SERIES_BUDGET.labelLimit + Object.keys(settings.management.metrics.tags).length,
  };
}

/** Folder of a plain Prometheus with a folder for each Secret; the operator mounts Secrets there, too. */
export const SECRETS_FOLDER = '/etc/prometheus/secrets';

/** The Service's name as the cluster's DNS has it; a certificate that scrapes verify is for this name. */
export const serviceHost = ({ names, namespace }: CheckedWorkload): string => `${names.workload}.${namespace}.svc`;

function operatorTls(workload: CheckedWorkload) {
  const { tls } = workload.file.monitoring;
  if (tls === undefined) {
    return {};
  }
  const { existingSecret: name, keys, verify } = tls;
  const trust = { ca: { secret: { name, key: keys.authority } }, serverName: serviceHost(workload) };
  return { tlsConfig: verify ? trust : { insecureSkipVerify: true } };
}

/** TLS and credential of a scrape by the Prometheus Operator, which reads both from the consumer's own Secrets. */
export function operatorAccess(workload: CheckedWorkload) {
  const { credentials } = workload.file.monitoring;
  if (credentials === undefined) {
    return operatorTls(workload);
  }
  const { existingSecret: name, type, keys } = credentials;
  return {
    ...operatorTls(workload),
    ...(type === 'bearer'
      ? { authorization: { type: 'Bearer', credentials: { name, key: keys.token } } }
      : { basicAuth: { username: { name, key: keys.username }, password: { name, key: keys.password } } }),
  };
}

function plainTls(workload: CheckedWorkload) {
  const { tls } = workload.file.monitoring;
  if (tls === undefined) {
    return {};
  }
  const { existingSecret, keys, verify } = tls;
  const trust = {
    ca_file: `${SECRETS_FOLDER}/${existingSecret}/${keys.authority}`,
    server_name: serviceHost(workload),
  };
  return { tls_config: verify ? trust : { insecure_skip_verify: true } };
}

/** TLS and credential of a scrape by a plain Prometheus, which reads files: the Secrets have to be mounted there. */
export function plainAccess(workload: CheckedWorkload) {
  const { credentials } = workload.file.monitoring;
  if (credentials === undefined) {
    return plainTls(workload);
  }
  const { existingSecret, type, keys } = credentials;
  const file = (of: 'token' | 'username' | 'password') => `${SECRETS_FOLDER}/${existingSecret}/${keys[of]}`;
  return {
    ...plainTls(workload),
    ...(type === 'bearer'
      ? { authorization: { type: 'Bearer', credentials_file: file('token') } }
      : { basic_auth: { username_file: file('username'), password_file: file('password') } }),
  };
}

/** A step that gives a target its labels, or drops it. */
interface Relabeling {
  readonly sourceLabels?: string[];
  readonly regex?: string;
  readonly action?: 'keep' | 'drop' | 'replace';
  readonly targetLabel?: string;
  readonly replacement?: string;
}

const POD = '__meta_kubernetes_pod';

/** Labels of the Pods as one selector of Kubernetes' API. */
export const labelSelector = ({ selector }: CheckedWorkload): string =>
  Object.entries(selector)
    .map(([label, value]) => `${label}=${value}`)
    .join(',');

/**
 * From all ports of the consumer's Pods, as Prometheus finds them at the API server, to one target per running Pod,
 * with the labels that the rules look at.
 */
export function podRelabelings({ endpoint, names }: CheckedWorkload): Relabeling[] {
  return [
    { sourceLabels: [`${POD}_container_port_name`], regex: endpoint.portName, action: 'keep' },
    { sourceLabels: [`${POD}_phase`], regex: 'Failed|Succeeded', action: 'drop' },
    { sourceLabels: ['__meta_kubernetes_namespace'], targetLabel: 'namespace', action: 'replace' },
    { sourceLabels: [`${POD}_name`], targetLabel: 'pod', action: 'replace' },
    { targetLabel: 'job', replacement: names.scrapeJob, action: 'replace' },
  ];
}
