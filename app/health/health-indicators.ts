import type { Detail } from './health.ts';
import type { HealthIndicator } from './health-indicator.ts';

/** Rejects when PostgreSQL cannot be used. */
export type DatabaseCheck = (signal: AbortSignal) => Promise<void>;

/** What the cluster says of itself; everything in it is shown as detail. */
interface KafkaCluster extends Readonly<Record<string, Detail>> {
  /** Brokers that are alive. */
  readonly brokers: number;
}

/** Rejects when no broker answers. */
export type KafkaCheck = (signal: AbortSignal) => Promise<KafkaCluster>;

/** The component `db`, with the details that Spring Boot shows for PostgreSQL. */
export function databaseIndicator(check: DatabaseCheck): HealthIndicator {
  return {
    name: 'db',
    check: async (signal) => {
      await check(signal);
      return { status: 'UP', details: { database: 'PostgreSQL', validationQuery: 'isValid()' } };
    },
  };
}

/** The component `kafka`: what the cluster answered; with an error, the addresses that were asked. */
export function kafkaIndicator(check: KafkaCheck, bootstrapBrokers: readonly string[]): HealthIndicator {
  return {
    name: 'kafka',
    context: { bootstrapBrokers },
    check: async (signal) => ({ status: 'UP', details: await check(signal) }),
  };
}
