import type { Workload } from '../contract/workload.ts';

/** Where the runbook of an alert is read; its source is docs/runbooks/<alert>.md. */
export const runbookUrl = ({ file }: Workload, alert: string): string =>
  `${file.monitoring.runbookBaseUrl}/${alert}.md`;
