import type { CheckedWorkload } from '../deployment/checked-workload.ts';

/** Where the runbook of an alert is read; its source is docs/runbooks/<alert>.md. */
export const runbookUrl = ({ file }: CheckedWorkload, alert: string): string =>
  `${file.monitoring.runbookBaseUrl}/${alert}.md`;
