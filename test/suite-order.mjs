import Sequencer from '@jest/test-sequencer';

/**
 * Suites that take longest, longest first: one of them that starts last runs alone at the end. Only their order counts,
 * and only where Jest's cache has no time of an earlier run, as on a new machine.
 */
export const LONG_SUITES = [
  'integration/dev/main-job.test.ts',
  'integration/faults/leader-change.test.ts',
  'integration/faults/recreated-topic.test.ts',
  'integration/database/outage.test.ts',
  'integration/records/codecs.test.ts',
  'integration/records/dead-letter-topic.test.ts',
  'integration/alerts/live-alerts.test.ts',
  'integration/health/honest-health.test.ts',
  'monitoring/alerts/promtool.test.ts',
  'integration/commands/synth-command.test.ts',
  'integration/database/pgbouncer.test.ts',
  'integration/kafka/kafka-lost.test.ts',
  'integration/faults/deleted-topic.test.ts',
  'integration/library/package.test.ts',
  'integration/health/shutdown.test.ts',
  'integration/kafka/oauthbearer.test.ts',
  'integration/runbooks/outages.test.ts',
  'integration/records/dead-letter-limit.test.ts',
  'integration/dashboard/dashboards.test.ts',
  'integration/kafka/rotated-kafka-password.test.ts',
  'integration/records/memory-limit.test.ts',
];

/** Milliseconds that any other suite of the project is taken to need. */
const USUAL_MS = { integration: 10_000, unit: 1_000 };
const LONG_MS = 60_000;

/** Jest's order, longest first by the times of the last run, with an estimate where there is none. */
export default class SuiteOrder extends Sequencer {
  time(test) {
    return super.time(test) ?? estimatedTime(test);
  }
}

function estimatedTime({ path, context }) {
  const place = LONG_SUITES.findIndex((suite) => path.endsWith(`/test/${suite}`));
  return place === -1 ? USUAL_MS[context.config.displayName?.name] : LONG_MS - place;
}
