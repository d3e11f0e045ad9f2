import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { createLogger, type LogDestination } from '../../../app/logging/logger.ts';
import {
  assembleManagement,
  type Management,
  type ManagementOptions,
} from '../../../app/management/create-management.ts';
import { LogEvents } from '../../../app/metrics/process/process.ts';
import type { ConsumerReport } from '../../../app/stream/partition/consumer-state.ts';
import { ReadTopics } from '../../../app/topics/read-topics.ts';
import { describeProblem } from '../../../settings/schema/problem.ts';
import { checkSettings, type Settings } from '../../../settings/settings.ts';

/** A consumer at work: one partition, four records behind. */
export const RUNNING: ConsumerReport = {
  state: 'running',
  groupId: 'orders-consumer',
  partitions: [{ topic: 'orders', partition: 0, nextOffset: 96n, lag: 4n }],
  topics: [{ topic: 'orders', isGone: false, partitions: 1, leaderless: 0 }],
  lastProgressAt: new Date('2026-11-21T12:00:00Z'),
  lastError: null,
};

/** Complete settings: those of a test over those of a consumer of orders. */
export function settingsWith(management: object, others: object = {}): Settings {
  const checked = checkSettings({
    server: { port: 0, address: '127.0.0.1' },
    kafka: { brokers: ['broker:9092'], topics: ['orders'], groupId: 'orders-consumer' },
    database: { url: 'postgresql://db/orders' },
    management: { metrics: { tags: { application: 'orders-consumer' } }, ...management },
    ...others,
  });
  if (!checked.ok) {
    throw new Error(checked.problems.map(describeProblem).join('\n'));
  }
  return checked.value;
}

/** Made once, before any test's timeout runs: the first check of settings compiles their schema. */
const SETTINGS = settingsWith({});

/** Options of a management, and which lines its log has, and where it goes. @default from info on, and nowhere */
export type Overrides = Partial<ManagementOptions> & {
  readonly logging?: Settings['logging'];
  readonly logDestination?: LogDestination;
};

/** Options with checks that succeed. */
export function managementOptions({
  logging = SETTINGS.logging,
  logDestination = { write: () => undefined },
  ...overrides
}: Overrides = {}): ManagementOptions {
  const logEvents = new LogEvents();
  return {
    settings: SETTINGS,
    topics: new ReadTopics(SETTINGS),
    current: () => overrides.settings ?? SETTINGS,
    clientCertificates: () => new Map(),
    build: { version: '1.2.3', time: '2026-11-21T13:50:31.742Z' },
    report: () => RUNNING,
    pool: () => ({ active: 1, idle: 2, pending: 3, max: 4 }),
    schemas: () => 1,
    letters: () => ({
      waiting: [{ topic: 'orders', letters: 2, oldestSeconds: 3_600 }],
      expired: new Map([['orders', 1]]),
    }),
    checkDatabase: async () => undefined,
    checkKafka: async () => ({ brokers: 1 }),
    logger: createLogger(logging, logDestination, (level) => logEvents.count(level)),
    logEvents,
    ...overrides,
  };
}

/** The interface started on a free port, and its server for requests without a network. */
export interface RunningManagement {
  readonly management: Management;
  readonly app: FastifyInstance;
  readonly address: AddressInfo;
}

/** Starts the interface and sets it ready. */
export async function startManagement(overrides: Overrides = {}): Promise<RunningManagement> {
  const { management, app } = assembleManagement(managementOptions(overrides));
  const address = await management.start();
  management.ready();
  return { management, app, address };
}
