import { HEALTH_EVALUATION_INTERVAL_MS } from '../../contract/alerts.ts';
import { LIVENESS_PROBE } from '../../contract/probes.ts';
import { milliseconds } from '../../settings/schema/duration.ts';
import { PROBE_COMPONENTS } from '../../settings/sections/health.ts';
import { registryUrls } from '../../settings/sections/schema-registry.ts';
import type { Settings } from '../../settings/settings.ts';
import type { ConsumerReport } from '../stream/partition/consumer-state.ts';
import { consumerComponent, schemaRegistryComponent } from './consumer-health.ts';
import { type Health, type Status, stateComponent } from './health.ts';
import { HealthEndpoint, healthGroups } from './health-endpoint.ts';
import {
  type DatabaseCheck,
  databaseIndicator,
  diskSpaceIndicator,
  type KafkaHealthCheck,
  kafkaIndicator,
} from './health-indicators.ts';
import { type LastFailure, RefreshedHealth, type RefreshTiming } from './refreshed-health.ts';

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
  readonly settings: Pick<Settings, 'kafka' | 'schemaRegistry' | 'management' | 'consumer'>;
  readonly report: () => ConsumerReport;
  readonly checkDatabase: DatabaseCheck;
  readonly checkKafka: KafkaHealthCheck;
}

/** The consumer's health. */
export interface ConsumerHealth {
  readonly endpoint: HealthEndpoint;
  readonly evaluator: HealthEvaluator;
  readonly readiness: Readiness;
  /** What the checks of PostgreSQL and Kafka met last; `null` where they met nothing yet. */
  readonly lastFailures: () => Readonly<Record<'db' | 'kafka', LastFailure | null>>;
  /** Begins to check the indicators and to evaluate the root health. */
  start(): void;
  /** Ends both; no timer keeps the process alive. */
  stop(): void;
}

/** Puts the consumer's components, groups and rules together. */
export function createHealth({ settings, report, checkDatabase, checkKafka }: HealthSources): ConsumerHealth {
  const readiness = new Readiness();
  const { kafka, diskspace } = settings.management.health;
  const { schemaRegistry } = settings;
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
    ...(schemaRegistry === undefined ? [] : [schemaRegistryComponent(report, registryUrls(schemaRegistry))]),
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
    lastFailures: () => ({ db: databaseHealth.lastFailure, kafka: kafkaHealth.lastFailure }),
    start: () => {
      for (const each of running) each.start();
    },
    stop: () => {
      for (const each of running) each.stop();
    },
  };
}

/** Time after the start, in milliseconds, from which "not UP yet" is a failure: the liveness probe's initial delay. */
export const START_PERIOD_MS = LIVENESS_PROBE.initialDelaySeconds * 1_000;

/** What is evaluated. */
interface HealthEvaluatorOptions {
  /** The status of the root health. */
  readonly status: () => Promise<Status>;
  /** While true, nothing is evaluated: during the shutdown, not being UP is no failure. */
  readonly isDraining: () => boolean;
}

/**
 * Evaluates the root health at the start and every {@link HEALTH_EVALUATION_INTERVAL_MS}, and counts the evaluations in
 * a row that were not UP. A consumer that starts is not UP yet, which calls for no alert: failures count from the first
 * UP on, or after {@link START_PERIOD_MS}, whichever comes first.
 */
export class HealthEvaluator {
  readonly #options: HealthEvaluatorOptions;
  #failures = 0;
  #counts = false;
  #timers: NodeJS.Timeout[] = [];

  constructor(options: HealthEvaluatorOptions) {
    this.#options = options;
  }

  /** Evaluations in a row, up to the last one, that were not UP. */
  get consecutiveFailures(): number {
    return this.#failures;
  }

  /** Evaluates now and from now on. */
  start(): void {
    const startPeriod = setTimeout(() => {
      this.#counts = true;
    }, START_PERIOD_MS);
    const interval = setInterval(() => void this.#evaluate(), HEALTH_EVALUATION_INTERVAL_MS);
    this.#timers = [startPeriod, interval];
    void this.#evaluate();
  }

  /** Ends; no timer stays behind. */
  stop(): void {
    for (const timer of this.#timers) {
      clearTimeout(timer);
    }
  }

  async #evaluate(): Promise<void> {
    const status = await this.#options.status();
    if (this.#options.isDraining()) {
      return;
    }
    if (status === 'UP') {
      this.#counts = true;
      this.#failures = 0;
    } else if (this.#counts) {
      this.#failures += 1;
    }
  }
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
