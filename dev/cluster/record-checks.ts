import pg from 'pg';
import { contentRecords, readTopic } from '../chaos/topic-reader.ts';
import { ExplainedError } from '../run/explained-error.ts';
import { compareTables, loadExpected, unexpectedRows } from '../verdict/compare-tables.ts';
import { count, type Finding } from '../verdict/finding.ts';
import { awaitAccounted, timeToRecover } from '../verdict/positions.ts';
import { PARTITIONS, SEED, type Site } from './site.ts';
import { WRITTEN } from './tested-consumer.ts';

const RECOVERY_LIMIT_MS = 120_000;
const READ_LIMIT_MS = 120_000;

/** Waits until records produced from now on are in PostgreSQL, of every partition. */
export async function recordsFlow({ positions }: Site): Promise<string> {
  const time = await timeToRecover(() => positions.read(), RECOVERY_LIMIT_MS);
  if (time === undefined) {
    throw new ExplainedError(`new records were not in PostgreSQL within ${RECOVERY_LIMIT_MS / 1_000} s`);
  }
  return `of all ${PARTITIONS} partitions`;
}

async function findings(site: Site): Promise<readonly Finding[]> {
  const { positions, client, localDatabaseUrl } = site;
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
    await loadExpected(database, contentRecords(content, source));
    return [accounted, ...(await compareTables(database, WRITTEN)), await unexpectedRows(database, WRITTEN)];
  } finally {
    await database.end();
  }
}

/** Reads the topic back and compares it with the tables: each record once, as a row or as a dead letter. */
export async function eachRecordOnce(site: Site): Promise<string> {
  const unwell = (await findings(site)).filter(({ isWell }) => !isWell);
  if (unwell.length > 0) {
    const lines = unwell.flatMap(({ check, expected, found, details }) => [
      `${check}: ${found} instead of ${expected}`,
      ...details,
    ]);
    throw new ExplainedError(lines.join('\n'));
  }
  return `${count(site.producer.acknowledged.orders)} records, none lost, none doubled`;
}
