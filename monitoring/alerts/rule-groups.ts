import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { databaseAlert } from './database.ts';
import { healthAlert } from './health.ts';
import { lagAlerts, lagRecordingRule } from './lag.ts';
import { memoryAlerts } from './memory.ts';
import type { RuleGroup } from './rule.ts';
import { topicAlert } from './topic.ts';
import { unreadableAlert } from './unreadable.ts';

/** All rules of one consumer, evaluated as often as it is scraped. */
export function ruleGroups(workload: CheckedWorkload): RuleGroup[] {
  return [
    {
      name: `${workload.namespace}/${workload.names.workload}`,
      interval: `${workload.file.monitoring.scrapeIntervalSeconds}s`,
      rules: [
        lagRecordingRule(workload),
        ...lagAlerts(workload),
        healthAlert(workload),
        ...memoryAlerts(workload),
        databaseAlert(workload),
        unreadableAlert(workload),
        topicAlert(workload),
      ],
    },
  ];
}
