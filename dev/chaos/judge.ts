import pg from 'pg';
import { awaitAccounted } from '../start/await-accounted.ts';
import { compareTables } from '../verdict/compare-tables.ts';
import { loadExpected } from '../verdict/expected-rows.ts';
import { count, type Finding } from '../verdict/finding.ts';
import { type ChaosSite, WRITTEN } from './chaos-site.ts';
import { PARTITIONS } from './schedule.ts';
import { contentRecords, readTopic, type TopicContent } from './topic-reader.ts';

const READ_TIMEOUT_MS = 300_000;
const HEALTH_TIMEOUT_MS = 60_000;
const EXAMPLES = 10;

/**
 * What became of each record, once the producer has stopped: waits until the consumers have caught up, reads the topic
 * back and compares it with the tables, stops the consumers and looks for what is left of them.
 */
export async function judge(site: ChaosSite, seed: number): Promise<readonly Finding[]> {
  const { positions, fleet, client } = site;
  const { end: ends } = await positions.read();
  const accounted = await awaitAccounted(
    ends,
    () => positions.read(),
    () => fleet.processes.length > 0,
  );
  const health = await checkHealth(site);
  const source = { kafka: client, topic: WRITTEN.topic, partitions: PARTITIONS, seed, ends };
  const content = await readTopic(source, READ_TIMEOUT_MS);
  const database = new pg.Client({ connectionString: site.postgres.urlWithPassword });
  await database.connect();
  try {
    await loadExpected(database, contentRecords(content, source));
    const tables = [...(await compareTables(database, WRITTEN)), await findUnexpected(database)];
    await fleet.stop();
    return [accounted, health, ...checkTopic(content, site), ...tables, checkConsumers(site), checkLeftover(site)];
  } finally {
    await database.end();
  }
}

async function checkHealth({ fleet }: ChaosSite): Promise<Finding> {
  const results = await Promise.allSettled(
    fleet.processes.map((consumer) => consumer.waitForHealth(200, HEALTH_TIMEOUT_MS)),
  );
  const details = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  return finding('consumers whose health is UP', results.length, results.length - details.length, details);
}

/** The broker's own promise: what it acknowledged is there. */
function checkTopic({ numbers, problems }: TopicContent, { producer }: ChaosSite): readonly Finding[] {
  const found = new Set([...numbers.values()].flat());
  const { orders, burst } = producer.acknowledged;
  const missing = Array.from({ length: orders + burst }, (_, index) => index - burst).filter((id) => !found.has(id));
  const details = missing.length > 0 ? [`missing: ${missing.slice(0, EXAMPLES).join(', ')}`] : [];
  const all = [...numbers.values()].reduce((sum, { length }) => sum + length, 0);
  return [
    finding('acknowledged records in the topic', orders + burst, orders + burst - missing.length, details),
    finding('records of the topic as they were produced', all, all - problems.length, problems),
  ];
}

/** Rows at offsets that the topic does not have. */
async function findUnexpected(client: pg.Client): Promise<Finding> {
  const { schema, topic, group } = WRITTEN;
  const { rows } = await client.query<{ place: string }>(
    `SELECT t.partition || '/' || t."offset" AS place
     FROM (SELECT topic, partition, "offset" FROM "${schema}".records
           UNION ALL SELECT topic, partition, "offset" FROM "${schema}".dead_letters WHERE group_id = $2) AS t
     LEFT JOIN expected e ON t.topic = $1 AND e.partition = t.partition AND e."offset" = t."offset"
     WHERE e."offset" IS NULL`,
    [topic, group],
  );
  return finding(
    'rows that no record stands behind',
    0,
    rows.length,
    rows.map(({ place }) => place),
  );
}

function checkConsumers({ fleet }: ChaosSite): Finding {
  return finding('consumers that ended although nobody ended them', 0, fleet.problems.length, fleet.problems);
}

function checkLeftover({ fleet }: ChaosSite): Finding {
  const left = fleet.leftover();
  return finding(
    'consumers left behind',
    0,
    left.length,
    left.map((pid) => `process ${pid}`),
  );
}

/** A finding that is well when the two numbers are the same. */
export function finding(check: string, expected: number, found: number, details: readonly string[]): Finding {
  const shown = details.length > EXAMPLES ? [...details.slice(0, EXAMPLES), '...'] : details;
  return { check, expected: count(expected), found: count(found), isWell: expected === found, details: shown };
}
