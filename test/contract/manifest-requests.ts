import { parse } from 'yaml';
import { prometheusFiles } from '../../monitoring/prometheus-files.ts';
import { overlay } from '../../synthesis/overlay.ts';
import { exampleWorkload } from '../charts/example-consumer.ts';
import { deploymentSpec, only, onlyContainer, renderedConsumer } from '../charts/rendered-consumer.ts';
import { renderedMonitoring } from '../monitoring/rendered-monitoring.ts';

/** The content of the cluster's Secrets, by name and key. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** One request that a manifest makes the kubelet or Prometheus send. */
export interface ManifestRequest {
  readonly scheme: string;
  readonly port: number;
  readonly path: string;
  readonly authorization?: string;
  /** What the certificate is verified by, and for which name; left out: it is not. */
  readonly trust?: { readonly ca: string; readonly servername: string };
}

interface Named {
  readonly name: string;
}

interface Container {
  readonly env: readonly (Named & { value?: string; valueFrom?: { secretKeyRef?: SecretKey } })[];
  readonly ports: readonly (Named & { containerPort: number })[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Probe {
  readonly httpGet: { readonly scheme: string; readonly port: number; readonly path: string };
}

interface SecretKey extends Named {
  readonly key: string;
}

interface OperatorScrape {
  readonly port: string;
  readonly scheme: string;
  readonly path: string;
  readonly tlsConfig?: {
    insecureSkipVerify?: boolean;
    ca: { secret: SecretKey };
    serverName: string;
  };
  readonly authorization?: { type: string; credentials: SecretKey };
  readonly basicAuth?: { username: SecretKey; password: SecretKey };
}

interface PortsByName {
  readonly ofService: (name: string) => number;
  readonly ofPod: (name: string) => number;
}

interface PlainScrape {
  readonly scheme: string;
  readonly metrics_path: string;
  readonly static_configs: readonly { targets: readonly string[] }[];
  readonly tls_config?: { insecure_skip_verify?: boolean; ca_file: string; server_name: string };
  readonly authorization?: { type: string; credentials_file: string };
  readonly basic_auth?: { username_file: string; password_file: string };
}

function named<T extends Named>(list: readonly T[], name: string): T {
  const found = list.find((each) => each.name === name);
  if (found === undefined) {
    throw new Error(`no ${name}`);
  }
  return found;
}

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** Environment, files and requests that follow from the manifests of one consumer.yaml, as the cluster reads them. */
export function manifestRequests(changes: object, secrets: Secrets) {
  const manifests = renderedConsumer(changes);
  const container = onlyContainer(manifests) as unknown as Container;
  const secret = ({ name, key }: SecretKey): string => {
    const value = secrets[name]?.[key];
    if (value === undefined) {
      throw new Error(`no key ${key} in a Secret ${name}`);
    }
    return value;
  };
  const service = only(manifests, 'Service')['spec'] as {
    ports: (Named & { port: number; targetPort: string })[];
  };
  const behindService = (port: { targetPort: string }) => named(container.ports, port.targetPort).containerPort;
  return {
    container,
    env: Object.fromEntries(
      container.env
        // What Kubernetes tells of the Pod is no business of these requests.
        .filter(({ valueFrom }) => valueFrom === undefined || valueFrom.secretKeyRef !== undefined)
        .map(({ name, value, valueFrom }) => ({ name, value, key: valueFrom?.secretKeyRef }))
        .filter(({ key }) => key === undefined || key.key in (secrets[key.name] ?? {}))
        .map(({ name, value, key }) => [name, key ? secret(key) : (value ?? '')]),
    ),
    secretFiles: secretFiles(deploymentSpec(manifests).template.spec, secret),
    applicationYaml: Object.values(only(manifests, 'ConfigMap')['data'] as Record<string, string>)[0] ?? '',
    probes: [container.livenessProbe, container.readinessProbe].map(({ httpGet }): ManifestRequest => httpGet),
    admitted: (
      only(manifests, 'NetworkPolicy')['spec'] as { ingress: { ports: { port: number }[] }[] }
    ).ingress.flatMap(({ ports }) => ports.map(({ port }) => port)),
    operatorScrapes: operatorScrapes(changes, secret, {
      ofService: (port) => behindService(named(service.ports, port)),
      ofPod: (port) => named(container.ports, port).containerPort,
    }),
    plainScrapes: plainScrapes(changes, secrets, (port) => {
      const found = service.ports.find((each) => each.port === port);
      return found === undefined ? 0 : behindService(found);
    }),
  };
}

interface SecretVolume {
  readonly projected?: {
    sources: readonly { secret: Named & { optional?: boolean; items: readonly { key: string; path: string }[] } }[];
  };
}

/** Content of the Secrets that are mounted as files, by the path below the mount. */
function secretFiles(pod: object, secret: (key: SecretKey) => string): readonly (readonly [string, string])[] {
  const { volumes = [] } = pod as { volumes?: readonly SecretVolume[] };
  return volumes.flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ secret: { name, optional, items } }) =>
      optional === true ? [] : items.map(({ key, path }) => [path, secret({ name, key })] as const),
    ),
  );
}

/** The scrapes by each custom resource of the operator that consumer.yaml can ask for. */
function operatorScrapes(changes: object, secret: (key: SecretKey) => string, ports: PortsByName): ManifestRequest[] {
  const spec = (scrape: string, kind: string) =>
    only(renderedMonitoring(overlay(changes, { monitoring: { scrape } }) as object), kind)['spec'];
  const { endpoints } = spec('serviceMonitor', 'ServiceMonitor') as { endpoints: OperatorScrape[] };
  const { podMetricsEndpoints } = spec('podMonitor', 'PodMonitor') as { podMetricsEndpoints: OperatorScrape[] };
  const { relabelings, metricsPath, ...config } = spec('scrapeConfig', 'ScrapeConfig') as {
    relabelings: { regex?: string }[];
    metricsPath: string;
  } & OperatorScrape;
  const place = (portOf: (name: string) => number) => (scrape: OperatorScrape) =>
    operatorScrape(scrape, secret, portOf);
  return [
    ...endpoints.map(place(ports.ofService)),
    ...podMetricsEndpoints.map(place(ports.ofPod)),
    place(ports.ofPod)({ ...config, path: metricsPath, port: relabelings[0]?.regex ?? '' }),
  ];
}

function operatorScrape(
  { port, scheme, path, tlsConfig, authorization, basicAuth }: OperatorScrape,
  secret: (key: SecretKey) => string,
  portOf: (name: string) => number,
): ManifestRequest {
  return {
    scheme,
    port: portOf(port),
    path,
    ...(authorization && { authorization: `${authorization.type} ${secret(authorization.credentials)}` }),
    ...(basicAuth && { authorization: basic(secret(basicAuth.username), secret(basicAuth.password)) }),
    ...(tlsConfig &&
      tlsConfig.insecureSkipVerify !== true && {
        trust: { ca: secret(tlsConfig.ca.secret), servername: tlsConfig.serverName },
      }),
  };
}

function plainScrapes(changes: object, secrets: Secrets, portOf: (port: number) => number) {
  const text = prometheusFiles(exampleWorkload(changes)).get('scrape.yml') ?? '';
  const { scrape_configs: jobs } = parse(text) as { scrape_configs: PlainScrape[] };
  const file = (path: string): string => {
    const [name = '', key = ''] = path.split('/').slice(-2);
    return secrets[name]?.[key] ?? `nothing is at ${path}`;
  };
  return jobs.flatMap((job) =>
    job.static_configs.flatMap(({ targets }) =>
      targets.map(
        (target): ManifestRequest => ({
          scheme: job.scheme,
          port: portOf(Number(target.split(':').at(-1))),
          path: job.metrics_path,
          ...(job.authorization && {
            authorization: `${job.authorization.type} ${file(job.authorization.credentials_file)}`,
          }),
          ...(job.basic_auth && {
            authorization: basic(file(job.basic_auth.username_file), file(job.basic_auth.password_file)),
          }),
          ...(job.tls_config &&
            job.tls_config.insecure_skip_verify !== true && {
              trust: { ca: file(job.tls_config.ca_file), servername: job.tls_config.server_name },
            }),
        }),
      ),
    ),
  );
}
