import { stringify } from 'yaml';
import type { Workload } from '../contract/workload.ts';
import { ruleGroups } from './rule-groups.ts';
import { plainAccess, serviceHost } from './scrape-access.ts';
import { scrapeSettings } from './scrape-settings.ts';

const SCRAPE_COMMENT = `# Scrape job of a plain Prometheus: name this file under scrape_config_files, or copy the job into scrape_configs.
# The target is the Service, behind which each scrape reaches one Pod. With several replicas list the Pods instead,
# or let the Prometheus Operator find them (monitoring.k8s.yaml).
`;

const RULES_COMMENT =
  '# Rules of a plain Prometheus: name this file under rule_files. The same rules are in monitoring.k8s.yaml.\n';

const yaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

function scrapeJob(own: Workload): unknown {
  const { path, scheme, interval, timeout, sampleLimit } = scrapeSettings(own);
  return {
    job_name: own.names.scrapeJob,
    metrics_path: path,
    scheme,
    scrape_interval: interval,
    scrape_timeout: timeout,
    sample_limit: sampleLimit,
    ...plainAccess(own),
    static_configs: [
      {
        targets: [`${serviceHost(own)}:${own.endpoint.port}`],
        labels: { namespace: own.namespace },
      },
    ],
  };
}

/**
 * The scrape job and the rules as a Prometheus without the operator reads them, by file name. Their ending is .yml,
 * because cdk8s takes every .yaml file for a Kubernetes manifest.
 */
export function prometheusFiles(own: Workload): ReadonlyMap<string, string> {
  return new Map([
    ['rules.yml', RULES_COMMENT + yaml({ groups: ruleGroups(own) })],
    ['scrape.yml', SCRAPE_COMMENT + yaml({ scrape_configs: [scrapeJob(own)] })],
  ]);
}
