import pg from 'pg';
import { endOffsets } from '../orders/sample-producer.ts';
import { compareTables, loadExpected, unexpectedRows } from '../verdict/compare-tables.ts';
import { countFinding, type Finding } from '../verdict/finding.ts';
import { awaitAccounted } from '../verdict/positions.ts';
import { type ChaosStack, WRITTEN } from './chaos-stack.ts';
import { PARTITIONS, SIDE_TOPIC } from './schedule.ts';
import { endsOf, expectedOf, type Incarnation } from './side-topic.ts';
import { contentRecords, readTopic, type TopicContent } from './topic-reader.ts';

const READ_TIMEOUT_MS = 300_000;
const HEALTH_TIMEOUT_MS = 60_000;
const EXAMPLES = 10;

/**
 * The findings on each record, once the producers have stopped: waits until the consumers have caught up, reads the
 * main topic back, stops the consumers, compares the topics with the tables and looks for processes that they left.
 */
export async function judge(stack: ChaosStack, seed: number): Promise<readonly Finding[]> {
  const { positions, fleet, client, side, templated } = stack;
  const { end: ends } = await positions.read();
  const caughtUp = await awaitAllAccounted(stack, ends);
  const health = await checkHealth(stack);
  const source = { kafka: client, topic: WRITTEN.topic, partitions: PARTITIONS, seed, ends };
  const content = await readTopic(source, READ_TIMEOUT_MS);
  // What is stored of a deleted topic is known once nothing is written any more.
  await fleet.stop();
  const incarnations = [...side.incarnations, ...(await templated.incarnations())];
  const tables = await withDatabase(stack, async (database) => {
    await loadExpected(database, WRITTEN.topic, contentRecords(content, source));
    return compareAll(database, stack, incarnations);
  });
  const topics = [
    ...checkTopic(content, stack),
    checkDeleted(incarnations),
    checkNoticed(side.incarnations),
    ...tables,
  ];
  return [...caughtUp, health, ...topics, checkConsumers(stack), checkLeftover(stack)];
}

/** Waits for each topic that is there. @param ends of the main topic */
async function awaitAllAccounted(
  { positions, fleet, side, templated, keyed }: ChaosStack,
  ends: ReadonlyMap<number, bigint>,
): Promise<readonly Finding[]> {
  const isAlive = () => fleet.processes.length > 0;
  const findings = [await awaitAccounted(ends, () => positions.read(), isAlive)];
  const current = side.incarnations.at(-1);
  const others = [
    { name: SIDE_TOPIC, ends: current === undefined ? new Map() : endsOf(current), read: side.read },
    ...keyed.map(({ topic: name, producer, read }) => ({ name, ends: endOffsets(producer.records()), read })),
    ...templated.there.map(({ name, producer, positions: at }) => ({
      ...{ name, ends: endOffsets(producer.records()) },
      read: () => at.read(),
    })),
  ];
  for (const other of others) {
    const { check, ...finding } = await awaitAccounted(other.ends, other.read, isAlive);
    findings.push({ ...finding, check: `${check}, ${other.name}` });
  }
  return findings;
}

async function withDatabase<T>({ postgres }: ChaosStack, work: (database: pg.Client) => Promise<T>): Promise<T> {
  const database = new pg.Client({ connectionString: postgres.urlWithPassword });
  await database.connect();
  try {
    return await work(database);
  } finally {
    await database.end();
  }
}

/** Compares all topics with the tables; the records of the main one are loaded already. */
async function compareAll(
  database: pg.Client,
  { keyed }: ChaosStack,
  incarnations: readonly Incarnation[],
): Promise<readonly Finding[]> {
  for (const incarnation of incarnations) {
    await loadExpected(database, incarnation.topic, expectedOf(incarnation));
  }
  for (const each of keyed) {
    await each.loadBroken(database);
  }
  const findings = [...(await compareTables(database, WRITTEN)), await unexpectedRows(database, WRITTEN)];
  for (const each of keyed) {
    findings.push(await each.compare(database));
  }
  return findings;
}

/** A stored position beyond the end of a deleted topic would claim records that were never there. */
function checkDeleted(incarnations: readonly Incarnation[]): Finding {
  const beyond = incarnations.flatMap((incarnation) => {
    const ends = endsOf(incarnation);
    return [...(incarnation.next ?? [])]
      .filter(([partition, next]) => next > (ends.get(partition) ?? 0n))
      .map(([partition, next]) => `${incarnation.topic}/${partition}: stored position ${next}`);
  });
  return countFinding('stored positions beyond the end of a deleted topic', 0, beyond.length, beyond);
}

/** Without that, the records of the new topic below the stored offset of the old one would be lost. */
function checkNoticed(incarnations: readonly Incarnation[]): Finding {
  const deleted = incarnations.filter(({ next }) => next !== undefined);
  const unnoticed = deleted.filter(({ isNoticed }) => !isNoticed).map(({ topic }) => topic);
  return countFinding(
    'topics created again, and noticed',
    deleted.length,
    deleted.length - unnoticed.length,
    unnoticed,
  );
}

async function checkHealth({ fleet }: ChaosStack): Promise<Finding> {
  const results = await Promise.allSettled(
    fleet.processes.map((consumer) => consumer.waitForHealth(200, HEALTH_TIMEOUT_MS)),
  );
  const details = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  return countFinding('consumers whose health is UP', results.length, results.length - details.length, details);
}

/** Kafka's part: each acknowledged record is in the topic, as it was produced. */
function checkTopic({ numbers, problems }: TopicContent, { producer }: ChaosStack): readonly Finding[] {
  const found = new Set([...numbers.values()].flat());
  const { orders, burst } = producer.acknowledged;
  const missing = Array.from({ length: orders + burst }, (_, index) => index - burst).filter((id) => !found.has(id));
  const details = missing.length > 0 ? [`missing: ${missing.slice(0, EXAMPLES).join(', ')}`] : [];
  const all = [...numbers.values()].reduce((sum, { length }) => sum + length, 0);
  return [
    countFinding('acknowledged records in the topic', orders + burst, orders + burst - missing.length, details),
    countFinding('records of the topic as they were produced', all, all - problems.length, problems),
  ];
}

function checkConsumers({ fleet }: ChaosStack): Finding {
  return countFinding('consumers that ended by themselves', 0, fleet.problems.length, fleet.problems);
}

function checkLeftover({ fleet }: ChaosStack): Finding {
  const left = fleet.leftover();
  return countFinding(
    'consumers left behind',
    0,
    left.length,
    left.map((pid) => `process ${pid}`),
  );
}
