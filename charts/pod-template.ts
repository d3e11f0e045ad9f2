import { k8s } from 'cdk8s-plus-28';
import { VOLUME } from '../contract/container.ts';
import { type CheckedWorkload, serviceAccountName } from '../deployment/checked-workload.ts';
import { mountedItems } from '../deployment/mounted-files.ts';
import { podSecurityContext } from '../deployment/pods/pod-security.ts';
import { certificateMounts } from '../deployment/sections/certificates.ts';
import { container, doctorContainer } from './container.ts';
import { type Credential, certificateVolume, credentials, secretFiles } from './secrets.ts';

/**
 * The annotations by which a Prometheus without the operator usually finds Pods; `undefined` unless `monitoring.scrape`
 * asks for them: together with a ServiceMonitor every Pod would be scraped twice.
 */
function scrapeAnnotations({ endpoint, file }: CheckedWorkload): Record<string, string> | undefined {
  return file.monitoring.scrape === 'annotations'
    ? {
        'prometheus.io/scrape': 'true',
        'prometheus.io/scheme': endpoint.scheme.toLowerCase(),
        'prometheus.io/port': String(endpoint.port),
        'prometheus.io/path': endpoint.prometheusPath,
      }
    : undefined;
}

const TEMPORARY_SIZE = '64Mi';

/** Spreads Pods over nodes and zones where there is room; none stays Pending for want of another node or zone. */
function spread({ selector }: CheckedWorkload): k8s.TopologySpreadConstraint[] {
  return ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: selector },
    matchLabelKeys: ['pod-template-hash'],
  }));
}

/** Readable for the consumer's group alone: the private key is in it. */
const CERTIFICATE_MODE = 0o440;

function volumes({ file }: CheckedWorkload, configMapName: string, credentials: readonly Credential[]): k8s.Volume[] {
  const { tls } = file.monitoring;
  const items = mountedItems(file);
  return [
    { name: VOLUME.configuration, configMap: { name: configMapName, ...(items && { items }) } },
    ...(tls === undefined
      ? []
      : [{ name: VOLUME.certificate, secret: { secretName: tls.existingSecret, defaultMode: CERTIFICATE_MODE } }]),
    ...certificateMounts(file).map(certificateVolume),
    ...(file.secrets.as === 'files' ? [secretFiles(VOLUME.secrets, credentials)] : []),
    { name: VOLUME.temporary, emptyDir: { sizeLimit: k8s.Quantity.fromString(TEMPORARY_SIZE) } },
  ];
}

/** Where the Pods may run, as consumer.yaml says. */
function scheduling({ nodeSelector, tolerations, priorityClassName }: CheckedWorkload['file']['pods']) {
  return {
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    // cdk8s replaces an object that has a text `value` by that text, unless the object is of the same realm, as a copy
    // is: a test runner clones props in another realm.
    ...(tolerations.length > 0 && { tolerations: tolerations.map((each) => ({ ...each })) }),
    ...(priorityClassName !== undefined && { priorityClassName }),
  };
}

/**
 * What all Pods have in common; it holds what Pod Security "restricted" asks.
 *
 * @param credentials those that the containers take from Secrets
 */
export function podSpec(
  workload: CheckedWorkload,
  configMapName: string,
  containers: readonly k8s.Container[],
  credentials: readonly Credential[],
): k8s.PodSpec {
  const { file } = workload;
  const { pullSecrets } = file.image;
  return {
    serviceAccountName: serviceAccountName(workload),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: file.terminationGracePeriodSeconds,
    securityContext: podSecurityContext(file.pods.userFromCluster),
    ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
    ...scheduling(file.pods),
    containers: [...containers],
    volumes: volumes(workload, configMapName, credentials),
  };
}

/** Labels and annotations of Pods: ours, and what consumer.yaml adds. */
export function podMetadata(
  { file: { pods } }: CheckedWorkload,
  labels: Record<string, string>,
  annotations = {},
): k8s.ObjectMeta {
  const all = { ...pods.annotations, ...annotations };
  return { labels: { ...pods.labels, ...labels }, ...(Object.keys(all).length > 0 && { annotations: all }) };
}

/** The Pods of the Deployment. */
export function podTemplate(workload: CheckedWorkload, configMapName: string): k8s.PodTemplateSpec {
  const { spread: isSpread, topologySpreadConstraints: own, doctor } = workload.file.pods;
  const spec = podSpec(workload, configMapName, [container(workload)], credentials(workload));
  return {
    metadata: podMetadata(workload, workload.labels, scrapeAnnotations(workload)),
    spec: {
      ...spec,
      ...(doctor && { initContainers: [doctorContainer(workload)] }),
      ...(isSpread && own === undefined && { topologySpreadConstraints: spread(workload) }),
    },
  };
}
