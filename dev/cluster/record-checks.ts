import type { Kafka } from 'kafkajs';
import pg from 'pg';
import { loadQuietKafkajs } from '../../app/kafka/kafkajs/patches.ts';
import { ChaosProducer } from '../chaos/chaos-producer.ts';
import { contentRecords, readTopic } from '../chaos/topic-reader.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { startLocalKafka } from '../stack/local-kafka.ts';
import { startLocalPostgres } from '../stack/local-postgres.ts';
import { ensureTopic } from '../stack/topic.ts';
import { compareTables, loadExpected, unexpectedRows } from '../verdict/compare-tables.ts';
import { count, type Finding } from '../verdict/finding.ts';
import { awaitAccounted, PositionReader, timeToRecover } from '../verdict/positions.ts';
import { WRITTEN } from './tested-consumer.ts';

const kafkajs = loadQuietKafkajs();

/** Seed of the records' content; any number will do. */
const SEED = 1;
export const PARTITIONS = 6;
export const RECORDS_PER_SECOND = 500;

const RECOVERY_LIMIT_MS = 120_000;
const READ_LIMIT_MS = 120_000;

/** Kafka and PostgreSQL on this machine, as Pods reach them. */
export interface BackingServices {
  readonly broker: string;
  readonly databaseUrl: string;
  /** `databaseUrl` as this machine reaches it. */
  readonly localDatabaseUrl: string;
  readonly client: Kafka;
  readonly producer: ChaosProducer;
  readonly positions: PositionReader;
}

/**
 * Starts Kafka and PostgreSQL and makes the topic; nothing is produced yet.
 *
 * @param host this machine as Pods see it
 * @throws ExplainedError when a part does not start
 */
export async function startBackingServices(
  run: RunFolder,
  host: string,
  onProgress: (text: string) => void,
): Promise<BackingServices> {
  const starts = [
    startLocalKafka(run, { elsewhere: host, onProgress }),
    startLocalPostgres(run, { admitsOthers: true }),
  ] as const;
  // A server that is still starting cannot be stopped, so the failure of one waits for the other.
  await Promise.allSettled(starts);
  const [{ broker, brokerElsewhere }, { urlWithPassword }] = await Promise.all(starts);
  if (brokerElsewhere === undefined) {
    throw new ExplainedError('Kafka has no listener for the Pods');
  }
  const client = new kafkajs.Kafka({ clientId: 'cluster-test', brokers: [broker], logLevel: kafkajs.logLevel.NOTHING });
  await ensureTopic(client, WRITTEN.topic, PARTITIONS);
  const positions = new PositionReader(urlWithPassword, client, WRITTEN);
  await positions.connect();
  run.beforeClose(() => positions.disconnect());
  const plan = { kafka: client, topic: WRITTEN.topic, partitions: PARTITIONS, seed: SEED, rate: RECORDS_PER_SECOND };
  return {
    broker: brokerElsewhere,
    databaseUrl: urlAt(urlWithPassword, host),
    localDatabaseUrl: urlWithPassword,
    client,
    producer: new ChaosProducer(plan),
    positions,
  };
}

function urlAt(url: string, host: string): string {
  const moved = new URL(url);
  moved.hostname = host;
  return moved.href;
}

/** Waits until PostgreSQL has records of every partition that were produced from now on. */
export async function recordsFlow({ positions }: BackingServices): Promise<string> {
  const time = await timeToRecover(() => positions.read(), RECOVERY_LIMIT_MS);
  if (time === undefined) {
    throw new ExplainedError(`new records were not in PostgreSQL within ${RECOVERY_LIMIT_MS / 1_000} s`);
  }
  return `of all ${PARTITIONS} partitions`;
}

async function findings(services: BackingServices): Promise<readonly Finding[]> {
  const { positions, client, localDatabaseUrl } = services;
  const { end: ends } = await positions.read();
  const accounted = await awaitAccounted(
    ends,
    () => positions.read(),
    () => true,
  );
  const source = { kafka: client, topic: WRITTEN.topic, partitions: PARTITIONS, seed: SEED, ends };
  const content = await readTopic(source, READ_LIMIT_MS);
  const database = new pg.Client({ connectionString: localDatabaseUrl });
  await database.connect();
  try {
    await loadExpected(database, WRITTEN.topic, contentRecords(content, source));
    return [accounted, ...(await compareTables(database, WRITTEN)), await unexpectedRows(database, WRITTEN)];
  } finally {
    await database.end();
  }
}

/** Reads the topic back and compares it with the tables: each record once, as a row or as a dead letter. */
export async function eachRecordOnce(services: BackingServices): Promise<string> {
  const unwell = (await findings(services)).filter(({ isWell }) => !isWell);
  if (unwell.length > 0) {
    const lines = unwell.flatMap(({ check, expected, found, details }) => [
      `${check}: ${found} instead of ${expected}`,
      ...details,
    ]);
    throw new ExplainedError(lines.join('\n'));
  }
  return `${count(services.producer.acknowledged.orders)} records, none lost, none doubled`;
}
