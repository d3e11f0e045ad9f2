import { type LocalKafka, type LocalKafkaOptions, startLocalKafka } from '../../../dev/stack/local-kafka.ts';
import { type LocalPostgres, startLocalPostgres } from '../../../dev/stack/local-postgres.ts';
import { testRun } from './test-run.ts';

/** A PostgreSQL for one test, which may stop, crash and freeze it; it ends with the test file. */
export const startPrivatePostgres = async (): Promise<LocalPostgres> => startLocalPostgres(await testRun());

/** A Kafka for one test, which may stop, crash and freeze it; it ends with the test file. */
export const startPrivateKafka = async (options: LocalKafkaOptions = {}): Promise<LocalKafka> =>
  startLocalKafka(await testRun(), options);
