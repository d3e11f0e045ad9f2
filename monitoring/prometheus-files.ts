import { stringify } from 'yaml';
import type { CheckedWorkload } from '../deployment/checked-workload.ts';
import { ruleGroups } from './alerts/rule-groups.ts';
import { labelSelector, plainAccess, podRelabelings, SECRETS_FOLDER, scrapeSettings, serviceHost } from './scrape.ts';

/** What both jobs of a plain Prometheus have in common; each of them gives the same series, so one is enough. */
function scrapeJob(workload: CheckedWorkload) {
  const { path, scheme, interval, timeout, sampleLimit, labelLimit } = scrapeSettings(workload);
  return {
    job_name: workload.names.scrapeJob,
    metrics_path: path,
    scheme,
    scrape_interval: interval,
    scrape_timeout: timeout,
    sample_limit: sampleLimit,
    label_limit: labelLimit,
    ...plainAccess(workload),
  };
}

/** A job with fixed targets: those of consumer.yaml, or the Service, behind which each scrape reaches one Pod. */
function staticScrapeJob(workload: CheckedWorkload): unknown {
  const { namespace, endpoint, file } = workload;
  const { staticTargets } = file.monitoring;
  const targets = staticTargets.length > 0 ? staticTargets : [`${serviceHost(workload)}:${endpoint.port}`];
  return { ...scrapeJob(workload), static_configs: [{ targets, labels: { namespace } }] };
}

/** A job that finds every Pod at the API server. */
function discoveringScrapeJob(workload: CheckedWorkload): unknown {
  return {
    ...scrapeJob(workload),
    kubernetes_sd_configs: [
      {
        role: 'pod',
        namespaces: { names: [workload.namespace] },
        selectors: [{ role: 'pod', label: labelSelector(workload) }],
      },
    ],
    relabel_configs: podRelabelings(workload).map(({ sourceLabels, targetLabel, ...step }) => ({
      ...(sourceLabels !== undefined && { source_labels: sourceLabels }),
      ...step,
      ...(targetLabel !== undefined && { target_label: targetLabel }),
    })),
  };
}

const STATIC_COMMENT = `# Scrape job of a plain Prometheus, with fixed targets: name this file under scrape_config_files, or copy the job into
# scrape_configs. It is for one Pod, or for the targets that monitoring.staticTargets lists. Behind the Service each scrape
# reaches any one of several Pods, and counters jump: scrape-pods.yml is for these. Take one of both files.
`;

const DISCOVERING_COMMENT = `# Scrape job of a plain Prometheus inside the cluster, for any number of Pods: name this file under scrape_config_files, or
# copy the job into scrape_configs. Prometheus has to be allowed to list Pods in the namespace. Take this file or scrape.yml.
`;

const ACCESS_COMMENT = `# The consumer's Secrets have to be mounted where Prometheus runs, each at ${SECRETS_FOLDER}/<its name>. A user
# from a file (username_file) is news to Prometheus 2 of before 2024; 3 knows it.
`;

const RULES_COMMENT =
  '# Rules of a plain Prometheus: name this file under rule_files. The same rules are in monitoring.k8s.yaml.\n';

const yaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

/** No job beside annotations: it would scrape each Pod twice, under labels that the rules do not select by. */
function scrapeFiles(own: CheckedWorkload): readonly (readonly [name: string, text: string])[] {
  const { scrape, credentials, tls } = own.file.monitoring;
  const access = credentials || tls ? ACCESS_COMMENT : '';
  return scrape === 'annotations'
    ? []
    : [
        ['scrape-pods.yml', DISCOVERING_COMMENT + access + yaml({ scrape_configs: [discoveringScrapeJob(own)] })],
        ['scrape.yml', STATIC_COMMENT + access + yaml({ scrape_configs: [staticScrapeJob(own)] })],
      ];
}

/**
 * The scrape jobs and the rules as a Prometheus without the operator reads them, by file name. Their ending is .yml,
 * because cdk8s takes every .yaml file for a Kubernetes manifest.
 */
export function prometheusFiles(own: CheckedWorkload): ReadonlyMap<string, string> {
  return new Map([['rules.yml', RULES_COMMENT + yaml({ groups: ruleGroups(own) })], ...scrapeFiles(own)]);
}
