/**
 * Integration suites that only `npm run test:long` runs as a whole. Each has a row in docs/verification.md, with the test
 * of `npm test` that proves the same.
 */
export const LONG_SUITES = [
  'change-events/database-by-hand',
  'change-events/database-replica',
  'change-events/replica',
  'commands/doctor-database',
  'commands/doctor-kafka',
  'commands/doctor-lines',
  'dev/chaos/consumer-fleet',
  'dev/chaos/database-faults',
  'dev/chaos/side-topic',
  'dev/stack/client-quota',
  'dev/stack/local-connect',
  'faults/broker-quota',
  'faults/forbidden-template',
  'kafka/kafka-lost',
  'kafka/kafka-tls',
  'kafka/reauthentication',
  'kafka/rotated-kafka-password',
];
