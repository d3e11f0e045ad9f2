import type { Kafka } from 'kafkajs';
import pg from 'pg';
import { loadQuietKafkajs } from '../../app/kafka/kafkajs/patches.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import type { Screen } from '../run/screen.ts';
import type { LocalPostgres } from '../stack/local-postgres.ts';
import { type StackPart, startStack } from '../stack/local-stack.ts';
import type { StartOptions } from './options.ts';

const kafkajs = loadQuietKafkajs();

const LABEL = { kafka: 'Kafka', postgres: 'PostgreSQL' } as const satisfies Record<StackPart, string>;
const CONNECT_TIMEOUT_MS = 10_000;
/** The local PostgreSQL has no TLS, and PGSSLMODE may demand it for the user's servers. */
const WITHOUT_TLS = '?sslmode=disable';

/** Kafka and PostgreSQL, started by this run or the user's. */
export interface Servers {
  readonly kafka: Kafka;
  /** Comma-separated, as the setting takes them. */
  readonly brokers: string;
  /** May hold a password. */
  readonly databaseUrl: string;
  /** For psql; without a password, but with the file that holds it where this run has started PostgreSQL. */
  readonly psqlUrl: string;
  /** Undefined where it is the user's. */
  readonly postgres: LocalPostgres | undefined;
}

/**
 * Starts the servers that the options do not name and makes sure that the others answer.
 *
 * @throws ExplainedError when a server does not start or does not answer.
 */
export async function provideServers(run: RunFolder, options: StartOptions, screen: Screen): Promise<Servers> {
  const wanted: StackPart[] = [];
  if (options.kafka === undefined) {
    wanted.push('kafka');
  }
  if (options.database === undefined) {
    wanted.push('postgres');
  }
  const say = (part: StackPart, message: string): void => screen.line(`${LABEL[part].padEnd(11)} ${message}`);
  for (const part of wanted) {
    say(part, 'starting ...');
  }
  const stack = await startStack({
    run,
    parts: wanted,
    usualPorts: true,
    onProgress: say,
    onReady: (part, address) => say(part, `ready at ${address.replace(/^.*@/, '')}`),
  });
  const brokers = options.kafka ?? stack.kafka?.broker ?? '';
  const databaseUrl = options.database ?? `${stack.postgres?.urlWithPassword ?? ''}${WITHOUT_TLS}`;
  const kafka = new kafkajs.Kafka({
    clientId: 'sample-orders',
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: CONNECT_TIMEOUT_MS,
  });
  await Promise.all([
    options.kafka === undefined ? undefined : checkKafka(brokers),
    options.database === undefined ? undefined : checkDatabase(databaseUrl),
  ]);
  const passfile = stack.postgres && `&passfile=${stack.postgres.passwordFile}`;
  const psqlUrl = `${withoutPassword(databaseUrl)}${passfile ?? ''}`;
  return { kafka, brokers, databaseUrl, psqlUrl, postgres: stack.postgres };
}

async function checkKafka(brokers: string): Promise<void> {
  const retry = { retries: 1 };
  const kafka = new kafkajs.Kafka({
    brokers: brokers.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 5_000,
    retry,
  });
  const admin = kafka.admin();
  try {
    await admin.connect();
    await admin.describeCluster();
  } catch (error) {
    throw new ExplainedError(
      `Kafka at ${brokers} does not answer (${messageOf(error)}). Check --kafka, or leave it out and one is started.`,
      { cause: error },
    );
  } finally {
    await admin.disconnect();
  }
}

async function checkDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await client.connect();
  } catch (error) {
    throw new ExplainedError(
      `PostgreSQL at ${withoutPassword(url)} does not let us in (${messageOf(error)}). Check --database, or leave it out and one is started.`,
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A connection refused by several addresses at once has no message, only a code. */
function messageOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}

/** The URL as it may be shown. */
function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.password = '';
  shown.searchParams.delete('password');
  return shown.href;
}
