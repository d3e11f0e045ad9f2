import { Kafka, logLevel } from 'kafkajs';
import { ChaosProducer } from '../chaos/chaos-producer.ts';
import { ExplainedError } from '../run/explained-error.ts';
import type { RunFolder } from '../run/run-folder.ts';
import { startLocalKafka } from '../stack/local-kafka.ts';
import { startLocalPostgres } from '../stack/local-postgres.ts';
import { ensureTopic } from '../stack/topic.ts';
import { PositionReader } from '../verdict/positions.ts';
import { WRITTEN } from './tested-consumer.ts';

/** What decides the records' content; any number would do. */
export const SEED = 1;
export const PARTITIONS = 6;
const RECORDS_PER_SECOND = 500;

/** Kafka and PostgreSQL on this machine, as Pods reach them. */
export interface Site {
  readonly broker: string;
  readonly databaseUrl: string;
  /** The same for this machine. */
  readonly localDatabaseUrl: string;
  readonly client: Kafka;
  readonly producer: ChaosProducer;
  readonly positions: PositionReader;
}

function urlAt(url: string, host: string): string {
  const moved = new URL(url);
  moved.hostname = host;
  return moved.href;
}

/**
 * Starts both and makes the topic; nothing is produced yet.
 *
 * @param host this machine as Pods see it
 * @throws ExplainedError when a part does not start
 */
export async function startSite(run: RunFolder, host: string, onProgress: (text: string) => void): Promise<Site> {
  const starts = [
    startLocalKafka(run, { elsewhere: host, onProgress }),
    startLocalPostgres(run, { admitsOthers: true }),
  ] as const;
  // Both, before a failure of one is told: what is still starting could not be stopped.
  await Promise.allSettled(starts);
  const [{ broker, brokerElsewhere }, { urlWithPassword }] = await Promise.all(starts);
  if (brokerElsewhere === undefined) {
    throw new ExplainedError('Kafka has no listener for the Pods');
  }
  const client = new Kafka({ clientId: 'cluster-test', brokers: [broker], logLevel: logLevel.NOTHING });
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
