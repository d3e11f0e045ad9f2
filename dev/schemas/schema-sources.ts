/** A Go module that publishes schemas of Kubernetes objects. */
interface PublishedModule {
  /** Name of the file that is written: `test/manifests/schemas/<name>.schema.json`. */
  readonly name: string;
  readonly module: string;
  readonly version: string;
}

/** Kubernetes' own description of its API, and the kinds to take from it by their definition's name. */
export interface OpenApiSource extends PublishedModule {
  readonly file: string;
  /** By apiVersion and kind. */
  readonly kinds: Readonly<Record<string, string>>;
}

/** Definitions of custom resources. */
export interface CrdSource extends PublishedModule {
  readonly files: readonly string[];
}

const KUBERNETES_KINDS = {
  'v1/Namespace': 'io.k8s.api.core.v1.Namespace',
  'v1/ServiceAccount': 'io.k8s.api.core.v1.ServiceAccount',
  'v1/ConfigMap': 'io.k8s.api.core.v1.ConfigMap',
  'v1/Service': 'io.k8s.api.core.v1.Service',
  'apps/v1/Deployment': 'io.k8s.api.apps.v1.Deployment',
  'batch/v1/Job': 'io.k8s.api.batch.v1.Job',
  'autoscaling/v2/HorizontalPodAutoscaler': 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  'networking.k8s.io/v1/NetworkPolicy': 'io.k8s.api.networking.v1.NetworkPolicy',
  'policy/v1/PodDisruptionBudget': 'io.k8s.api.policy.v1.PodDisruptionBudget',
};

const kubernetes = (version: string): OpenApiSource => ({
  name: `kubernetes-${version.split('.').slice(0, 2).join('.')}`,
  module: 'k8s.io/kubernetes',
  version: `v${version}`,
  file: 'api/openapi-spec/swagger.json',
  kinds: KUBERNETES_KINDS,
});

/**
 * The oldest Kubernetes that the manifests are for, and a current one; its metadata serves the custom resources too.
 */
export const KUBERNETES_SOURCES: readonly [OpenApiSource, OpenApiSource] = [
  kubernetes('1.28.15'),
  kubernetes('1.35.0'),
];

const operatorCrds = (...kinds: string[]) =>
  kinds.map((kind) => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`);

/** The custom resources among the manifests and the examples. */
export const CRD_SOURCES: readonly CrdSource[] = [
  {
    name: 'prometheus-operator',
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    files: operatorCrds('servicemonitors', 'podmonitors', 'scrapeconfigs', 'prometheusrules'),
  },
  {
    name: 'keda',
    module: 'github.com/kedacore/keda/v2',
    version: 'v2.21.0',
    files: ['config/crd/bases/keda.sh_scaledobjects.yaml', 'config/crd/bases/keda.sh_triggerauthentications.yaml'],
  },
  {
    name: 'external-secrets',
    module: 'github.com/external-secrets/external-secrets',
    version: 'v1.3.2',
    files: ['config/crds/bases/external-secrets.io_externalsecrets.yaml'],
  },
  {
    name: 'sealed-secrets',
    module: 'github.com/bitnami-labs/sealed-secrets',
    version: 'v0.40.0',
    files: ['helm/sealed-secrets/crds/bitnami.com_sealedsecrets.yaml'],
  },
  {
    name: 'argo-cd',
    module: 'github.com/argoproj/argo-cd/v3',
    version: 'v3.3.0',
    files: ['manifests/crds/application-crd.yaml'],
  },
  {
    name: 'flux-source',
    module: 'github.com/fluxcd/source-controller',
    version: 'v1.8.0',
    files: [
      'config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml',
      'config/crd/bases/source.toolkit.fluxcd.io_ocirepositories.yaml',
    ],
  },
  {
    name: 'flux-kustomize',
    module: 'github.com/fluxcd/kustomize-controller',
    version: 'v1.10.1',
    files: ['config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml'],
  },
];
