import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { bytesOf } from '../../settings/schema/data-size.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Detail, Health } from './health.ts';

/** A component whose health takes a check of another system; it is checked in the background, never by a request. */
export interface HealthIndicator {
  /** The component's name in the report and in its path. */
  readonly name: string;
  /**
   * Shown beside the error when a check fails or gives no answer.
   * @default nothing beside the error
   */
  readonly context?: Readonly<Record<string, Detail>>;
  /** One check. A rejection is `DOWN`. It has to settle soon after the signal aborts: the next check waits for it. */
  check(signal: AbortSignal): Promise<Health>;
}

/** Rejects when PostgreSQL is not usable. */
export type DatabaseCheck = (signal: AbortSignal) => Promise<void>;

/** A broker's answer about the cluster; everything in it is shown as detail. */
interface KafkaCluster extends Readonly<Record<string, Detail>> {
  /** Brokers that are alive. */
  readonly brokers: number;
}

/** Rejects when no broker answers. */
export type KafkaHealthCheck = (signal: AbortSignal) => Promise<KafkaCluster>;

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

/** The component `kafka`: the cluster's answer as details; with an error, the bootstrap brokers. */
export function kafkaIndicator(check: KafkaHealthCheck, bootstrapBrokers: readonly string[]): HealthIndicator {
  return {
    name: 'kafka',
    context: { bootstrapBrokers },
    check: async (signal) => ({ status: 'UP', details: await check(signal) }),
  };
}

/**
 * The component `diskSpace`: DOWN when the file system of `path` has less free space for this user than `threshold`.
 * A path that does not exist has none.
 */
export function diskSpaceIndicator(settings: Settings['management']['health']['diskspace']): HealthIndicator {
  const path = resolve(settings.path);
  const threshold = bytesOf(settings.threshold);
  return {
    name: 'diskSpace',
    check: async () => {
      const { total, free, exists } = await space(path);
      return {
        status: free >= threshold && exists ? 'UP' : 'DOWN',
        details: { total, free, threshold, path, exists },
      };
    },
  };
}

async function space(path: string): Promise<{ total: number; free: number; exists: boolean }> {
  try {
    const { blocks, bavail, bsize } = await statfs(path);
    return { total: blocks * bsize, free: bavail * bsize, exists: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return { total: 0, free: 0, exists: false };
    }
    throw error;
  }
}
