import { Type } from 'typebox';
import { ALLOWED } from '../settings/schema.ts';
import { section } from '../settings/section.ts';
import { labelMap } from './label-map.ts';
import { monitoringCredentials, monitoringSpringBootAdmin, monitoringTls } from './monitoring-access.ts';

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
        'How Prometheus is told: by a custom resource of the operator, or by annotations prometheus.io/scrape on the Pods, which the operator does not look at. none: by nothing among the manifests.',
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
    credentials: Type.Optional(monitoringCredentials),
    tls: Type.Optional(monitoringTls),
    springBootAdmin: Type.Optional(monitoringSpringBootAdmin),
    runbookBaseUrl: Type.String({
      pattern: '^https?://[^\\s]+[^\\s/]$',
      default: 'https://github.com/stream-consumer/stream-consumer/blob/main/docs/runbooks',
      description: "Where docs/runbooks is published: each alert's runbook_url is this, a slash and <AlertName>.md.",
      [ALLOWED]: 'an http or https URL without a slash at its end',
    }),
  },
  { ...section, description: 'How the consumer is scraped and watched.' },
);
