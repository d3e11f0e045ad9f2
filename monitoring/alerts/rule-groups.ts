import type { CheckedWorkload } from '../../deployment/checked-workload.ts';
import { databaseAlerts } from './database.ts';
import { absentAlerts, certificateAlerts, healthAlerts, restartAlerts } from './health.ts';
import {
  kafkaAlerts,
  leaderlessAlerts,
  rebalanceAlerts,
  skippedAlerts,
  topicAlerts,
  unreadableAlerts,
  waitingAlerts,
} from './kafka.ts';
import { lagAlerts, lagRecordingRule, lagTimeAlerts, unassignedAlerts } from './lag.ts';
import { eventLoopAlerts, heapAlerts, memoryAlerts } from './memory.ts';
import type { AlertRule, RuleGroup } from './rule.ts';
import { registryAlerts } from './schema-registry.ts';
import { deadLetterAlerts, fencedAlerts, lateAlerts, lateRecordingRules, waitingLetterAlerts } from './writes.ts';

/** The specification's first, then what each part of the way of a record can do. */
const ALERT_RULES: readonly ((workload: CheckedWorkload) => AlertRule[])[] = [
  lagAlerts,
  healthAlerts,
  memoryAlerts,
  databaseAlerts,
  lagTimeAlerts,
  absentAlerts,
  restartAlerts,
  heapAlerts,
  eventLoopAlerts,
  kafkaAlerts,
  registryAlerts,
  certificateAlerts,
  topicAlerts,
  waitingAlerts,
  unassignedAlerts,
  unreadableAlerts,
  leaderlessAlerts,
  skippedAlerts,
  rebalanceAlerts,
  deadLetterAlerts,
  waitingLetterAlerts,
  fencedAlerts,
  lateAlerts,
];

/** All rules of one consumer, evaluated as often as it is scraped. */
export function ruleGroups(workload: CheckedWorkload): RuleGroup[] {
  return [
    {
      name: `${workload.namespace}/${workload.names.workload}`,
      interval: `${workload.file.monitoring.scrapeIntervalSeconds}s`,
      rules: [
        lagRecordingRule(workload),
        ...lateRecordingRules(workload),
        ...ALERT_RULES.flatMap((rules) => rules(workload)),
      ],
    },
  ];
}
