import { k8s } from 'cdk8s-plus-28';
import { CONTAINER_USER } from '../contract/container-user.ts';
import type { Workload } from '../contract/workload.ts';
import { container, VOLUME } from './container.ts';
import { scrapeAnnotations } from './scrape-annotations.ts';

const TEMPORARY_SIZE = '64Mi';

/** Pods apart where there is room, but never Pending for want of another node or zone. */
function spread({ selector }: Workload): k8s.TopologySpreadConstraint[] {
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

function volumes({ file: { monitoring } }: Workload, configMapName: string): k8s.Volume[] {
  const { tls } = monitoring;
  return [
    { name: VOLUME.configuration, configMap: { name: configMapName } },
    ...(tls === undefined
      ? []
      : [{ name: VOLUME.certificate, secret: { secretName: tls.existingSecret, defaultMode: CERTIFICATE_MODE } }]),
    { name: VOLUME.temporary, emptyDir: { sizeLimit: k8s.Quantity.fromString(TEMPORARY_SIZE) } },
  ];
}

/** The Pods of the Deployment; they hold what Pod Security "restricted" asks. */
export function podTemplate(workload: Workload, configMapName: string): k8s.PodTemplateSpec {
  const { file, names, labels } = workload;
  const annotations = scrapeAnnotations(workload);
  const { pullSecrets } = file.image;
  return {
    metadata: { labels, ...(annotations !== undefined && { annotations }) },
    spec: {
      serviceAccountName: names.workload,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: file.terminationGracePeriodSeconds,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: CONTAINER_USER.uid,
        runAsGroup: CONTAINER_USER.gid,
        fsGroup: CONTAINER_USER.gid,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
      topologySpreadConstraints: spread(workload),
      containers: [container(workload)],
      volumes: volumes(workload, configMapName),
    },
  };
}
