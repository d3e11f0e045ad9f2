import Sequencer from '@jest/test-sequencer';

/**
 * Suites that take longest, longest first: one of them that starts last runs alone at the end. Only their order counts,
 * and only where Jest's cache has no time of an earlier run, as on a new machine.
 */
export const SLOWEST_SUITES = [
  'integration/tables/ddl.test.ts',
  'integration/faults/deleted-topic.test.ts',
  'integration/tables/dry-run.test.ts',
  'integration/alerts/live-alerts.test.ts',
  'integration/dashboard/dashboards.test.ts',
  'integration/commands/synth-command.test.ts',
  'integration/health/shutdown.test.ts',
  'integration/tables/captures.test.ts',
  'integration/faults/recreated-topic.test.ts',
  'integration/kafka/kafka-logins.test.ts',
  'integration/commands/dead-letters-command.test.ts',
  'integration/commands/offsets-command.test.ts',
  'monitoring/alerts/promtool.test.ts',
  'dev/image/build.test.ts',
  'app/configuration/canaries.test.ts',
  'dev/bootstrap.test.ts',
  'integration/dev/main-job.test.ts',
  'integration/library/package.test.ts',
  'integration/commands/doctor-command.test.ts',
  'integration/tables/versioned-model.test.ts',
  'integration/health/health.test.ts',
  'integration/health/honest-health.test.ts',
  'integration/faults/postgres-trouble.test.ts',
  'integration/store/frozen-writers.test.ts',
  'integration/faults/damaged-log.test.ts',
  'integration/database/outage.test.ts',
  'integration/records/codecs.test.ts',
  'integration/tables/versions.test.ts',
  'integration/tables/first-table.test.ts',
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
  const place = SLOWEST_SUITES.findIndex((suite) => path.endsWith(`/test/${suite}`));
  return place === -1 ? USUAL_MS[context.config.displayName?.name] : LONG_MS - place;
}
