import { type LocalKafka, type LocalKafkaOptions, startLocalKafka } from '../../../dev/stack/local-kafka.ts';
import {
  type LocalPostgres,
  type LocalPostgresOptions,
  startLocalPostgres,
} from '../../../dev/stack/local-postgres.ts';
import { query } from './database.ts';
import { newCluster } from './shared-stack.ts';
import { testRun } from './test-run.ts';

/** A PostgreSQL for one test, which may stop, crash and freeze it; it ends with the test file. */
export const startPrivatePostgres = async (options: LocalPostgresOptions = {}): Promise<LocalPostgres> =>
  startLocalPostgres(await testRun(), { copyOf: newCluster(), ...options });

/** Freezes the server with all its sessions, as a lost network would; gives what thaws it again. */
export async function freezePostgres(postgres: LocalPostgres): Promise<() => void> {
  const sessions = await query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE backend_type = $1 AND pid <> pg_backend_pid()',
    ['client backend'],
    postgres.urlWithPassword,
  );
  const pids = [postgres.pid, ...sessions.map(({ pid }) => pid)];
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };
}

/** A Kafka for one test, which may stop, crash and freeze it; it ends with the test file. */
export const startPrivateKafka = async (options: LocalKafkaOptions = {}): Promise<LocalKafka> =>
  startLocalKafka(await testRun(), options);
