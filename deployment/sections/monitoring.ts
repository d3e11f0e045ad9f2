import { type Static, Type } from 'typebox';
import { METRICS } from '../../contract/metrics.ts';
import { REPOSITORY_URL } from '../../contract/product-version.ts';
import type { Rule } from '../../settings/schema/check.ts';
import { isSection, valueAt } from '../../settings/schema/document.ts';
import { problemIf } from '../../settings/schema/problem.ts';
import { ALLOWED, closed, section } from '../../settings/schema/schema.ts';
import { alerts } from './alerts.ts';
import { annotationMap, labelMap, objectName, secretKey } from './object-names.ts';

/** The credential that the consumer asks for and that a scrape shows. */
const monitoringCredentials = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret with the credential, made by you in the same namespace.',
    }),
    type: Type.Enum(['bearer', 'basic'], {
      default: 'bearer',
      description: 'bearer: the Secret has a token. basic: it has a username and a password.',
    }),
    keys: Type.Object(
      { token: secretKey('token'), username: secretKey('username'), password: secretKey('password') },
      section,
    ),
  },
  {
    ...closed,
    description:
      'Who may read metrics, info and the details of the health; the status of the health stays open to the probes. Left out: everybody who reaches the port.',
  },
);

/** The certificate of the operational interface. */
const monitoringTls = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret of type kubernetes.io/tls in the same namespace, such as cert-manager makes and renews.',
    }),
    keys: Type.Object(
      { certificate: secretKey('tls.crt'), privateKey: secretKey('tls.key'), authority: secretKey('ca.crt') },
      section,
    ),
    verify: Type.Boolean({
      default: true,
      description:
        'Whether a scrape verifies the certificate: by the authority in the Secret, for the name <name>.<namespace>.svc. Probes never do.',
    }),
  },
  {
    ...closed,
    description: 'HTTPS for the operational interface, probes and scrapes included. Left out: HTTP.',
  },
);

/** What the consumer shows to Spring Boot Admin's server. */
const monitoringSpringBootAdmin = Type.Object(
  {
    existingSecret: Type.String({
      ...objectName,
      description: 'Secret with user and password at the server, made by you in the same namespace.',
    }),
    keys: Type.Object({ username: secretKey('username'), password: secretKey('password') }, section),
  },
  {
    ...closed,
    description: 'Credentials for application.spring.boot.admin.client.url. Left out: none.',
  },
);

/** Grafana's dashboards, which show all consumers of an environment. */
const dashboards = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        'Whether dist/grafana and the ConfigMap in grafana.k8s.yaml are written; several copies in one Grafana are one dashboard, so one is enough.',
    }),
    labels: labelMap({
      default: { grafana_dashboard: '1' },
      description: "Labels by which Grafana's sidecar finds the ConfigMap.",
    }),
    annotations: annotationMap({
      default: {},
      description:
        'Annotations of the ConfigMap, such as the one by which the sidecar takes a folder (grafana_folder).',
    }),
  },
  { ...section, description: "Grafana's dashboards, which synth writes; the library's constructs have none." },
);

/** The Pod's label as the usual jobs for annotated Pods copy it: all of them share one job. */
export const INSTANCE_LABEL = 'app_kubernetes_io_instance';

/** Labels by which rules and dashboards select and aggregate already, and those of Prometheus and its rules. */
const TAKEN_LABELS: ReadonlySet<string> = new Set([
  'namespace',
  'job',
  INSTANCE_LABEL,
  'pod',
  'instance',
  ...Object.values(METRICS).flatMap(({ labels }): readonly string[] => labels),
  'application',
  'le',
  'quantile',
  'alertname',
  'alertstate',
  'severity',
]);

/** Labels that distinguish one cluster from another. A rule looks at the names, as it can name those that are taken. */
const matchers = Type.Record(
  Type.String({ pattern: '^[\\s\\S]+$' }),
  Type.String({
    pattern: '^[^\\x00-\\x1f\\x7f\\ud800-\\udfff]+$',
    [ALLOWED]: 'the value of a label, as text: at least one character, and none that controls a terminal',
  }),
  {
    ...section,
    description:
      'Labels (cluster: eu-1) that each selector of rules and dashboards asks for, where one ruler has series of several clusters: all series have to carry them there, up too. Left out: none.',
  },
);

/** How the consumer is scraped and watched. */
export const monitoring = Type.Object(
  {
    customResources: Type.Boolean({
      default: true,
      description:
        "Whether monitoring.k8s.yaml is written: how to scrape, and PrometheusRule, for clusters with the Prometheus Operator's CRDs.",
    }),
    scrape: Type.Enum(['serviceMonitor', 'podMonitor', 'scrapeConfig', 'annotations', 'none'], {
      default: 'serviceMonitor',
      description:
        'How Prometheus finds the Pods: by a custom resource of the operator, or by annotations prometheus.io/scrape on the Pods, which the operator does not look at. none: the manifests do not help it.',
    }),
    annotationJob: Type.String({
      pattern: '^[A-Za-z0-9_./-]{1,253}$',
      default: 'kubernetes-pods',
      description: 'Label job that Prometheus gives to what annotations made it scrape; the alerts look for it.',
      [ALLOWED]: 'the name of a scrape job: letters, digits, and any of _ . / -',
    }),
    staticTargets: Type.Array(Type.String({ pattern: '^[^\\s/,]+:[0-9]{1,5}$', [ALLOWED]: 'host:port' }), {
      default: [],
      uniqueItems: true,
      description: 'Targets in dist/prometheus/scrape.yml, each as host:port, one per Pod. Left out: the Service.',
    }),
    labels: labelMap({
      default: {},
      description: 'More labels for both, for operators that select by label (release: kube-prometheus-stack).',
    }),
    scrapeIntervalSeconds: Type.Integer({
      minimum: 5,
      maximum: 30,
      default: 15,
      description: 'Time between two scrapes; the health alert has to see a failing Pod before its probe ends it.',
    }),
    matchers,
    credentials: Type.Optional(monitoringCredentials),
    tls: Type.Optional(monitoringTls),
    springBootAdmin: Type.Optional(monitoringSpringBootAdmin),
    runbookBaseUrl: Type.String({
      pattern: '^https?://[^\\s{}]+[^\\s{}/]$',
      default: `${REPOSITORY_URL}/blob/main/docs/runbooks`,
      description: "Where docs/runbooks is published: each alert's runbook_url is this, a slash and <AlertName>.md.",
      [ALLOWED]: 'an http or https URL without a slash at its end, and without braces',
    }),
    dashboardUrl: Type.Optional(
      Type.String({
        pattern: '^https?://([^\\s{}]|\\{\\{\\$labels\\.[a-z_]+\\}\\})+$',
        description:
          'URL of the dashboard, as the annotation dashboard_url of every alert. Left out: no such annotation.',
        [ALLOWED]: 'an http or https URL; braces only around a label of the alert, {{$labels.pod}}',
      }),
    ),
    dashboards,
    alerts,
  },
  { ...section, description: 'How the consumer is scraped and watched.' },
);

/** The section with its defaults filled in. */
export type MonitoringSettings = Static<typeof monitoring>;

interface MonitoringPart {
  readonly monitoring: MonitoringSettings;
}

const annotationsShowNoCredential: Rule<MonitoringPart> = {
  reads: ['monitoring.scrape', 'monitoring.credentials'],
  find: ({ monitoring: { scrape, credentials } }) =>
    scrape === 'annotations' && credentials !== undefined
      ? [
          {
            path: 'monitoring.scrape',
            message: 'has no way to show the credential that monitoring.credentials asks for',
            given: scrape,
            allowed: 'serviceMonitor, podMonitor or scrapeConfig; or none, and a scrape job of your own',
          },
        ]
      : [],
};

/** What Prometheus takes for the name of a label; what begins with two underscores it drops after relabeling. */
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

const LABEL_NAMES = 'letters, digits and underscores, no digit first, and not two underscores first, such as cluster';

const FREE_NAMES = `a label such as cluster or region, but none of ${[...TAKEN_LABELS].join(', ')}`;

const matchersHaveFreeNames: Rule<MonitoringPart> = {
  reads: ['monitoring.matchers[]'],
  find: ({ monitoring: { matchers } }) =>
    Object.keys(matchers).flatMap((name) => {
      const path = `monitoring.matchers.${name}`;
      return [
        ...problemIf(!LABEL_NAME.test(name), { path, message: 'is no name of a label', allowed: LABEL_NAMES }),
        ...problemIf(TAKEN_LABELS.has(name), {
          path,
          message: 'is a label that the rules or the metrics have already',
          allowed: FREE_NAMES,
        }),
      ];
    }),
};

const TAGS = ['application', 'management', 'metrics', 'tags'];

/** Where consumer.yaml gives series or alerts labels, each with the paths below it. */
const LABELLED: Readonly<
  Record<string, (part: MonitoringPart) => readonly (readonly [path: string, labels: unknown])[]>
> = {
  [TAGS.join('.')]: (part) => [[TAGS.join('.'), valueAt(part, TAGS)]],
  'monitoring.alerts.labels': ({ monitoring }) => [['monitoring.alerts.labels', monitoring.alerts.labels]],
  'monitoring.alerts.rules': ({ monitoring }) =>
    Object.entries(monitoring.alerts.rules).map(([name, rule]) => [
      `monitoring.alerts.rules.${name}.labels`,
      rule.labels,
    ]),
};

/** Series with another value are never found, and an alert with another one is missing in the dashboards. */
const matchersAreNotContradicted: readonly Rule<MonitoringPart>[] = Object.entries(LABELLED).map(([place, read]) => ({
  reads: ['monitoring.matchers[]', `${place}[]`],
  find: (part) => {
    const matchers = Object.entries(part.monitoring.matchers).filter(([name]) => !TAKEN_LABELS.has(name));
    return read(part).flatMap(([path, labels]) =>
      matchers.flatMap(([name, value]) =>
        problemIf(isSection(labels) && Object.hasOwn(labels, name) && labels[name] !== value, {
          path: `${path}.${name}`,
          message: `is not what monitoring.matchers.${name} asks for`,
          given: valueAt(labels, [name]),
          allowed: `${value}, or leave it out`,
        }),
      ),
    );
  },
}));

/** What the ways of scraping can and cannot do, and by what series are selected. */
export const SCRAPE_RULES: readonly Rule<MonitoringPart>[] = [
  annotationsShowNoCredential,
  matchersHaveFreeNames,
  ...matchersAreNotContradicted,
];
