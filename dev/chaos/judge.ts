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
 * The findings on each record, once the producer has stopped: waits until the consumers have caught up, reads the topic
 * back, compares it with the tables, stops the consumers and looks for processes that they left behind.
 */
export async function judge(stack: ChaosStack, seed: number): Promise<readonly Finding[]> {
  const { positions, fleet, client, side, keyed } = stack;
  const { end: ends } = await positions.read();
  const isAlive = () => fleet.processes.length > 0;
  const accounted = await awaitAccounted(ends, () => positions.read(), isAlive);
  const keyedAccounted: Finding[] = [];
  for (const { topic, producer, read } of keyed) {
    keyedAccounted.push(ofTopic(topic, await awaitAccounted(endOffsets(producer.records()), read, isAlive)));
  }
  const { incarnations } = side;
  const sideAccounted = await awaitAccounted(currentEnds(incarnations), side.read, isAlive);
  const health = await checkHealth(stack);
  const source = { kafka: client, topic: WRITTEN.topic, partitions: PARTITIONS, seed, ends };
  const content = await readTopic(source, READ_TIMEOUT_MS);
  const database = new pg.Client({ connectionString: stack.postgres.urlWithPassword });
  await database.connect();
  try {
    await loadExpected(database, WRITTEN.topic, contentRecords(content, source));
    for (const incarnation of incarnations) {
      await loadExpected(database, incarnation.topic, expectedOf(incarnation));
    }
    for (const each of keyed) {
      await each.loadBroken(database);
    }
    const tables = [...(await compareTables(database, WRITTEN)), await unexpectedRows(database, WRITTEN)];
    for (const each of keyed) {
      tables.push(await each.compare(database));
    }
    await fleet.stop();
    const topics = [...checkTopic(content, stack), checkDeleted(incarnations), checkNoticed(incarnations), ...tables];
    const all = [accounted, ofTopic(SIDE_TOPIC, sideAccounted), ...keyedAccounted];
    return [...all, health, ...topics, checkConsumers(stack), checkLeftover(stack)];
  } finally {
    await database.end();
  }
}

const currentEnds = (incarnations: readonly Incarnation[]) => {
  const current = incarnations.at(-1);
  return current === undefined ? new Map<number, bigint>() : endsOf(current);
};

const ofTopic = (topic: string, finding: Finding): Finding => ({ ...finding, check: `${finding.check}, ${topic}` });

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
