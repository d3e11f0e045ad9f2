import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { NO_LEADER } from '../../../../app/kafka/fetch/fetched-partition.ts';
import { PartitionLeaders } from '../../../../app/kafka/fetch/partition-leaders.ts';
import { TurningClock } from './stub-brokers.ts';
import { settle } from './stub-cluster.ts';

const ANSWER = {
  clusterId: 'stub',
  brokers: [],
  topicMetadata: [{ topic: 'orders', partitionMetadata: [{ partitionId: 0, leader: 1 }] }],
};

/** Looks for the leaders of topics; what it does is noted. */
function search({ topics = ['orders'], onAsked = async () => ANSWER, onFound = (): boolean => false } = {}) {
  const clock = new TurningClock();
  const noted: string[] = [];
  const metadata = async (): Promise<typeof ANSWER> => {
    noted.push('asked');
    return onAsked();
  };
  const leaders = new PartitionLeaders({ metadata }, clock, {
    topics: () => topics,
    silent: () => new Set<number>(),
    onFound: () => {
      noted.push('found');
      return onFound();
    },
    onFailed: (error) => void noted.push(`failed: ${(error as Error).message}`),
  });
  return { clock, leaders, noted };
}

test.each([0, 1, 2, 3, 4, 5])(
  'a look that is asked for %d microtasks after the end of another one is made',
  async (ticks) => {
    let isFirst = true;
    const onFound = (): boolean => {
      if (isFirst) {
        isFirst = false;
        void (async () => {
          for (let tick = 0; tick < ticks; tick += 1) await null;
          leaders.look();
        })();
      }
      return false;
    };
    const { leaders, noted } = search({ onFound });
    leaders.look();
    await settle();
    expect(noted).toEqual(['asked', 'found', 'asked', 'found']);
  },
);

test('the leader of a partition is none until the brokers have answered', async () => {
  const { leaders } = search();
  expect(leaders.of({ topic: 'orders', partition: 0 })).toBe(NO_LEADER);
  leaders.look();
  await settle();
  const of = (topic: string, partition: number): number => leaders.of({ topic, partition });
  expect([of('orders', 0), of('orders', 1), of('others', 0)]).toEqual([1, NO_LEADER, NO_LEADER]);
});

test('without topics nothing is asked, nor waited for', async () => {
  const { clock, leaders, noted } = search({ topics: [] });
  leaders.look();
  await settle();
  expect([noted, clock.pauses]).toEqual([[], []]);
});

test('a look that fails is reported, and made again until it succeeds', async () => {
  let failures = 2;
  const onAsked = async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('away');
    return ANSWER;
  };
  const { leaders, noted } = search({ onAsked });
  leaders.look();
  await settle();
  expect(noted).toEqual(['asked', 'failed: away', 'asked', 'failed: away', 'asked', 'found']);
});

test.each([
  [4_999, [100]],
  [5_000, []],
])('a look %d ms after another one waits for %j ms', async (ms, pauses) => {
  const { clock, leaders } = search();
  leaders.look();
  await settle();
  clock.pass(ms);
  leaders.look();
  await settle();
  expect(clock.pauses).toEqual(pauses);
});

describe('the end', () => {
  test('cuts a pause short, and nothing is asked any more', async () => {
    const { clock, leaders, noted } = search({ onFound: () => true });
    clock.isStopped = true;
    leaders.look();
    await settle();
    expect([noted, clock.waits]).toEqual([['asked', 'found'], 1]);
    leaders.stop();
    await settle();
    leaders.look();
    await settle();
    expect([noted, clock.waits]).toEqual([['asked', 'found'], 0]);
  });

  test.each([
    ['an answer', async () => ANSWER],
    ['a failure', () => Promise.reject(new Error('away'))],
  ])('drops %s of before', async (_, outcome) => {
    let end = (): void => undefined;
    const onAsked = async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return outcome();
    };
    const { leaders, noted } = search({ onAsked });
    leaders.look();
    await turn();
    leaders.stop();
    end();
    await settle();
    expect(noted).toEqual(['asked']);
  });
});
