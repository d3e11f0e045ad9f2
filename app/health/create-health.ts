import { milliseconds } from '../../settings/schema/duration.ts';
import { PROBE_COMPONENTS } from '../../settings/sections/health.ts';
import type { Settings } from '../../settings/settings.ts';
import type { ConsumerReport } from '../stream/partition/consumer-state.ts';
import { consumerComponent } from './consumer-health.ts';
import { type Health, stateComponent } from './health.ts';
import { HealthEndpoint } from './health-endpoint.ts';
import { HealthEvaluator } from './health-evaluator.ts';
import { healthGroups } from './health-group.ts';
import {
  type DatabaseCheck,
  databaseIndicator,
  diskSpaceIndicator,
  type KafkaCheck,
  kafkaIndicator,
} from './health-indicators.ts';
import { RefreshedHealth, type RefreshTiming } from './refreshed-health.ts';

/** Indicators are checked every 2 s, and DOWN without an answer in 3 s: an outage shows in at most 5 s. */
const REFRESH: RefreshTiming = { intervalMs: 2_000, timeoutMs: 3_000 };

/**
 * A writer waits longer than that for PostgreSQL, and so does its check: with a round trip of 4 s all is written. One
 * that keeps silent still shows within the 10 s that an outage has to show in.
 */
const DATABASE_REFRESH: RefreshTiming = { ...REFRESH, timeoutMs: 7_500 };

/** A disk fills slowly, and statfs() takes a thread each time. */
const DISK_REFRESH: RefreshTiming = { ...REFRESH, intervalMs: 5_000 };

/** What the health of the consumer is made from. */
export interface HealthSources {
  readonly settings: Pick<Settings, 'kafka' | 'management' | 'consumer'>;
  readonly report: () => ConsumerReport;
  readonly checkDatabase: DatabaseCheck;
  readonly checkKafka: KafkaCheck;
}

/** The consumer's health. */
export interface ConsumerHealth {
  readonly endpoint: HealthEndpoint;
  readonly evaluator: HealthEvaluator;
  readonly readiness: Readiness;
  /** Begins to check the indicators and to evaluate the root health. */
  start(): void;
  /** Ends both; no timer keeps the process alive. */
  stop(): void;
}

/** Puts the consumer's components, groups and rules together. */
export function createHealth({ settings, report, checkDatabase, checkKafka }: HealthSources): ConsumerHealth {
  const readiness = new Readiness();
  const { kafka, diskspace } = settings.management.health;
  const kafkaHealth = new RefreshedHealth(kafkaIndicator(checkKafka, settings.kafka.brokers), REFRESH);
  const databaseHealth = new RefreshedHealth(databaseIndicator(checkDatabase), DATABASE_REFRESH);
  const refreshed = [databaseHealth, new RefreshedHealth(diskSpaceIndicator(diskspace), DISK_REFRESH), kafkaHealth];
  const components = [
    ...refreshed,
    stateComponent('ping', () => ({ status: 'UP' })),
    consumerComponent(report, {
      kafka: kafkaHealth,
      database: databaseHealth,
      stallTimeoutMs: milliseconds(settings.consumer.stallTimeout),
    }),
    stateComponent('livenessState', () => ({ status: report().state === 'failed' ? 'DOWN' : 'UP' })),
    stateComponent('readinessState', () => readiness.health),
  ];
  const { probes } = settings.management.endpoint.health;
  const missing: readonly string[] = probes.enabled ? [] : PROBE_COMPONENTS;
  const endpoint = new HealthEndpoint({
    ...healthGroups(settings.management),
    components: components.filter(({ name }) => !missing.includes(name)),
    outsideRoot: kafka['in-root'] ? [] : ['kafka'],
  });
  const evaluator = new HealthEvaluator({
    status: () => endpoint.status(),
    isDraining: () => readiness.isDraining,
  });
  const running = [...refreshed, evaluator];
  return {
    endpoint,
    evaluator,
    readiness,
    start: () => {
      for (const each of running) each.start();
    },
    stop: () => {
      for (const each of running) each.stop();
    },
  };
}

/** Whether the process takes work: the source of `readinessState`. */
class Readiness {
  #phase: 'starting' | 'ready' | 'draining' = 'starting';

  /** The start is complete. Without effect once draining began. */
  ready(): void {
    if (this.#phase === 'starting') {
      this.#phase = 'ready';
    }
  }

  /** The shutdown began, for good. */
  draining(): void {
    this.#phase = 'draining';
  }

  get isDraining(): boolean {
    return this.#phase === 'draining';
  }

  /** UP while ready, OUT_OF_SERVICE before and after. */
  get health(): Health {
    return { status: this.#phase === 'ready' ? 'UP' : 'OUT_OF_SERVICE' };
  }
}
