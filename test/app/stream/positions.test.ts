import { describe, expect, test } from '@jest/globals';
import type { Position } from '../../../app/stream/record-source.ts';
import { settle, setUp } from './simulation.ts';

const at = (topic: string, partition: number, offset: bigint): Position => ({ topic, partition, offset });

/** Two topics of two partitions each; PostgreSQL has the positions that are given, and Kafka knows both topics' logs. */
function twoTopics(stored: readonly Position[], startFrom: 'earliest' | 'committed' = 'earliest') {
  const parts = setUp(12n, undefined, 'fail', { startFrom });
  const known = [...stored];
  const initialized: string[] = [];
  parts.sink.positions = async (topics) => known.filter(({ topic }) => topics.includes(topic));
  parts.sink.initialize = async (topic, choose) => {
    initialized.push(topic);
    const own = known.filter((position) => position.topic === topic);
    const added = choose(new Set(own.map(({ partition }) => partition)));
    known.push(...added);
    return [...own, ...added];
  };
  parts.source.logRanges = async (topic) => [0, 1].map((partition) => ({ topic, partition, start: 3n, end: 9n }));
  parts.source.committedOffsets = async (topic) => [at(topic, 1, 7n)];
  const partitions = ['orders', 'payments'].flatMap((topic) => [0, 1].map((partition) => ({ topic, partition })));
  const assign = async () => {
    parts.pipeline.onAssigned(partitions);
    await settle();
    return parts.pipeline.positions();
  };
  return { ...parts, known, initialized, assign };
}

const ALL = [at('orders', 0, 4n), at('orders', 1, 5n), at('payments', 0, 6n), at('payments', 1, 7n)];

test('positions that are all stored are gone on from, and none is stored anew', async () => {
  const { assign, initialized, fatal } = twoTopics(ALL);
  expect(await assign()).toEqual(ALL);
  expect(initialized).toEqual([]);
  expect(fatal).toEqual([]);
});

test('only a topic that lacks a position has first ones stored, from the beginning of the log', async () => {
  const { assign, initialized } = twoTopics(ALL.slice(0, 3));
  expect(await assign()).toEqual([...ALL.slice(0, 3), at('payments', 1, 3n)]);
  expect(initialized).toEqual(['payments']);
});

test('without any position each topic has first ones stored', async () => {
  const { assign, initialized } = twoTopics([]);
  expect(await assign()).toEqual(ALL.map(({ topic, partition }) => at(topic, partition, 3n)));
  expect(initialized).toEqual(['orders', 'payments']);
});

describe("Kafka's committed offsets", () => {
  test('are where a topic without positions begins when the setting says so', async () => {
    const { assign } = twoTopics(ALL.slice(0, 2), 'committed');
    expect((await assign()).slice(2)).toEqual([at('payments', 0, 3n), at('payments', 1, 7n)]);
  });

  test('are not asked for when it does not', async () => {
    const parts = twoTopics([]);
    let asked = 0;
    parts.source.committedOffsets = async () => {
      asked += 1;
      return [];
    };
    await parts.assign();
    expect(asked).toBe(0);
  });
});

test('a partition whose log Kafka does not know yet is waited for, as an outage of Kafka', async () => {
  const { assign, source, listener, fatal } = twoTopics([]);
  const failed: unknown[] = [];
  listener.onFailed = (partition, error) => failed.push([partition, error]);
  const logRanges = source.logRanges.bind(source);
  let looks = 0;
  source.logRanges = async (topic) => {
    looks += 1;
    return (await logRanges(topic)).filter(({ partition }) => partition === 0 || looks > 4);
  };
  expect(await assign()).toHaveLength(4);
  expect(failed).toHaveLength(2);
  expect(failed[0]).toMatchObject([
    { topic: 'orders', partition: 0 },
    { name: 'OutageError', reason: 'kafka_away' },
  ]);
  expect(fatal).toEqual([]);
});
