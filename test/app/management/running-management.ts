import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import {
  assembleManagement,
  type Management,
  type ManagementOptions,
} from '../../../app/management/create-management.ts';
import type { ConsumerReport } from '../../../app/stream/consumer-report.ts';

/** A consumer at work: one partition, four records behind. */
export const RUNNING: ConsumerReport = {
  state: 'running',
  groupId: 'orders-consumer',
  partitions: [{ topic: 'orders', partition: 0, nextOffset: 96n, lag: 4n }],
  lastProgressAt: new Date('2026-11-21T12:00:00Z'),
  lastError: null,
};

/** Options with parts that all work and a log that is thrown away. */
export function managementOptions(overrides: Partial<ManagementOptions> = {}): ManagementOptions {
  return {
    settings: {
      server: { port: 0, address: '127.0.0.1' },
      kafka: {
        brokers: ['broker:9092'],
        topics: ['orders'],
        groupId: 'orders-consumer',
        clientId: 'stream-consumer',
        sessionTimeout: '10s',
        ssl: false,
      },
      logging: { level: 'info' },
      management: {
        server: {},
        endpoints: { web: { 'base-path': '/actuator' } },
        security: {},
        health: { kafka: { inRoot: false }, diskspace: { path: '.', threshold: 1 } },
        metrics: { tags: { application: 'orders-consumer' } },
      },
    },
    build: { version: '1.2.3', time: '2026-11-21T13:50:31.742Z' },
    report: () => RUNNING,
    pool: () => ({ active: 1, idle: 2, pending: 3, max: 4 }),
    checkDatabase: async () => undefined,
    checkKafka: async () => ({ brokers: 1 }),
    logDestination: { write: () => undefined },
    ...overrides,
  };
}

/** The interface started on a free port, and its server for requests without a network. */
export interface RunningManagement {
  readonly management: Management;
  readonly app: FastifyInstance;
  readonly address: AddressInfo;
}

/** Starts the interface and says that it is ready. */
export async function startManagement(overrides: Partial<ManagementOptions> = {}): Promise<RunningManagement> {
  const { management, app } = assembleManagement(managementOptions(overrides));
  const address = await management.start();
  management.ready();
  return { management, app, address };
}
