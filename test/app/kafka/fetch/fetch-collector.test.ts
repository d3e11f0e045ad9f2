import { expect, test } from '@jest/globals';
import { FetchAnswer } from '../../../../app/kafka/fetch/fetch-answer.ts';
import { FetchCollector } from '../../../../app/kafka/fetch/fetch-collector.ts';
import { FetchedPartition, FetchedTopic } from '../../../../app/kafka/fetch/fetched-partition.ts';
import { RecordSetReader } from '../../../../app/kafka/fetch/record-set.ts';
import { EventLoopTurns } from '../../../../app/memory/event-loop-turns.ts';
import { MemoryBudget } from '../../../../app/memory/memory-budget.ts';
import { answerBytes } from './fetch-bytes.ts';
import { recordBatch } from './record-sets.ts';

const VERSION = 11;
const ignore = () => undefined;
const silent = {
  ...{ onFetched: ignore, onLogEnds: ignore, onLog: ignore, onReadable: ignore, onRead: ignore },
  ...{ onOutOfRange: ignore, onUnreadable: ignore, onTruncated: ignore, onLeaderLost: ignore, onRefused: ignore },
};

/** Each read ends in another turn of the event loop: as many turns as there are sets. */
function slowTurns(): EventLoopTurns {
  let now = 0;
  return new EventLoopTurns(() => {
    now += 1_000;
    return now;
  });
}

/**
 * Collects an answer with these sets, each of the partition at its place.
 *
 * @returns in which turn each one was handed over
 */
async function turnsOf(
  sets: readonly Buffer[],
  { cutBytes = 0, places = [...sets.keys()] }: { cutBytes?: number; places?: readonly number[] } = {},
): Promise<readonly number[]> {
  const turns = slowTurns();
  const handedOver: number[] = [];
  let turn = 0;
  const nextTurn = () => {
    turn += 1;
    pending = setImmediate(nextTurn);
  };
  let pending = setImmediate(nextTurn);
  const names = new FetchedTopic('orders');
  const partitions = sets.map((_, number) => new FetchedPartition({ topic: 'orders', partition: number }, names));
  const sent = { partitions };
  for (const partition of partitions) {
    partition.seek(0n, {});
    partition.resume();
    partition.request = sent;
  }
  const listener = { ...silent, onFetched: () => void handedOver.push(turn) };
  const collector = new FetchCollector(new RecordSetReader(new MemoryBudget(), turns), turns, listener);
  const bytes = answerBytes(VERSION, [['orders', sets.map((set, nth) => ({ partition: places[nth] ?? nth, set }))]]);
  const answer = new FetchAnswer(bytes.subarray(0, bytes.length - cutBytes), VERSION);
  await collector.collect(sent, answer).catch(ignore);
  clearImmediate(pending);
  return handedOver;
}

const small = recordBatch(0, 3);

test('the sets of a small answer are handed over in one turn, and other work has its turns before', async () => {
  const turns = await turnsOf([small, small, small]);
  expect(new Set(turns).size).toBe(1);
  expect(turns).toHaveLength(3);
  expect(turns[0]).toBeGreaterThan(1);
});

test('what fills a transaction is handed over before the rest is read', async () => {
  const large = recordBatch(0, 1, [Buffer.alloc(262_144, 'h')]);
  const [first, second, third] = await turnsOf([large, small, small]);
  expect(second).toBeGreaterThan(first ?? Number.NaN);
  expect(third).toBe(second);
});

test('other work has a turn between two hundred sets and the next ones', async () => {
  const turns = await turnsOf(Array.from({ length: 201 }, () => small));
  expect(turns).toHaveLength(201);
  expect(new Set(turns.slice(0, 200)).size).toBe(1);
  expect(turns[200]).toBeGreaterThan(turns[199] ?? Number.NaN);
});

test('what came before bytes that are no answer is handed over', async () => {
  expect(await turnsOf([small, small, small], { cutBytes: small.length })).toHaveLength(2);
});

test('a partition that is in an answer twice is handed over once: the rest of it is asked for again', async () => {
  expect(await turnsOf([small, recordBatch(3, 3)], { places: [0, 0] })).toHaveLength(1);
});

test('it is known of how many topics there were records', async () => {
  const topics = ['orders', 'payments', 'refunds'];
  const partitions = topics.flatMap((topic) =>
    [0, 1].map((partition) => new FetchedPartition({ topic, partition }, new FetchedTopic(topic))),
  );
  const sent = { partitions };
  for (const partition of partitions) {
    partition.seek(0n, {});
    partition.resume();
    partition.request = sent;
  }
  const sets = [[small, small], [small], []];
  const answered = topics.map((topic, nth) => {
    const of = sets[nth]?.map((set, partition) => ({ partition, set })) ?? [];
    return [topic, of.length > 0 ? of : [{ partition: 0, highWatermark: 0 }]] as const;
  });
  const turns = slowTurns();
  const collector = new FetchCollector(new RecordSetReader(new MemoryBudget(), turns), turns, silent);
  expect(await collector.collect(sent, new FetchAnswer(answerBytes(VERSION, answered), VERSION))).toBe(2);
});
