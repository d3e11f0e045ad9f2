import { describe, expect, test } from '@jest/globals';
import {
  findPosition,
  requirePosition,
  type StartFrom,
  startPositions,
} from '../../../../app/stream/partition/positions.ts';
import type { LogRange, Position } from '../../../../app/stream/ports/record-source.ts';
import { PARTITION } from '../records.ts';
import { assignAnew, settle, setUp } from '../simulation.ts';

const at = (topic: string, partition: number, offset: bigint): Position => ({ topic, partition, offset });

/** Two topics of two partitions each; PostgreSQL has the positions that are given, and Kafka knows both topics' logs. */
function twoTopics(
  stored: readonly Position[],
  startFrom: StartFrom = 'earliest',
  isTemplated: (topic: string) => boolean = () => false,
) {
  const parts = setUp(12n, undefined, 'fail', { startFrom, isTemplated });
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
    assignAnew(parts.pipeline, partitions);
    await settle();
    return parts.pipeline.positions();
  };
  return { ...parts, known, initialized, assign };
}

const ALL = [at('orders', 0, 4n), at('orders', 1, 5n), at('payments', 0, 6n), at('payments', 1, 7n)];

test('a position whose row is gone ends what reads its topic, with the last value seen', () => {
  const [position] = ALL;
  const partition = { topic: 'orders', partition: 0 };
  expect(requirePosition(partition, position, 9n)).toBe(position);
  const message = expect.stringContaining('put it back with next_offset 9');
  expect(() => requirePosition(partition, undefined, 9n)).toThrow(
    expect.objectContaining({ code: 'STORED_OFFSET_MISSING', topic: 'orders', message }),
  );
});

test('positions that are all stored are gone on from, and none is stored anew', async () => {
  const { assign, initialized, fatal } = twoTopics(ALL);
  expect(await assign()).toEqual(ALL);
  expect(initialized).toEqual([]);
  expect(fatal).toEqual([]);
});

test.each(['latest', 'committed'] as const)(
  'a topic that a template alone takes begins at its beginning, although startFrom is %s',
  async (startFrom) => {
    const { assign } = twoTopics([], startFrom, (topic) => topic === 'payments');
    const ends = startFrom === 'latest' ? [9n, 9n] : [3n, 7n];
    expect((await assign()).map(({ offset }) => offset)).toEqual([...ends, 3n, 3n]);
  },
);

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

const topic = 'orders';
const logs = [
  { topic, partition: 0, start: 5n, end: 50n },
  { topic, partition: 1, start: 0n, end: 70n },
];
const committed = [{ topic, partition: 1, offset: 33n }];
const nothing = new Set<number>();

test.each([
  ['earliest', [5n, 0n]],
  ['latest', [50n, 70n]],
  ['committed', [5n, 33n]],
] as const)('a topic without a position starts at %s', (startFrom, offsets) => {
  const positions = startPositions({ startFrom, logs, committed }, nothing);
  expect(positions.map(({ offset }) => offset)).toEqual(offsets);
});

test.each(['earliest', 'latest', 'committed'] as const)(
  'a partition added later starts at its beginning, although startFrom is %s',
  (startFrom) => {
    const positions = startPositions({ startFrom, logs, committed }, new Set([0]));
    expect(positions).toEqual([{ topic, partition: 1, offset: 0n }]);
  },
);

test.each([
  ['earliest', []],
  ['latest', []],
  ['committed', [{ topic, partition: 1, offset: 33n }]],
] as const)(
  'a partition without a leader has a first position only where one is committed: %s',
  (startFrom, expected) => {
    const leaderless = logs.map(({ partition }) => ({ topic, partition, isLeaderless: true as const }));
    expect(startPositions({ startFrom, logs: leaderless, committed }, nothing)).toEqual(expected);
  },
);

describe('a partition without a leader', () => {
  const leaderless = { topic: 'orders', partition: 1, isLeaderless: true } as const;

  /** Two topics of which one partition has no leader, as long as `led` is false. */
  function oneLeaderless(stored: readonly Position[]) {
    const parts = twoTopics(stored);
    const leaders = { led: false };
    const logRanges = parts.source.logRanges.bind(parts.source);
    parts.source.logRanges = async (asked) =>
      (await logRanges(asked)).map((log) =>
        leaders.led || asked !== leaderless.topic || log.partition !== leaderless.partition ? log : leaderless,
      );
    const look = async () => (await parts.source.logRanges('orders')).forEach((log) => void parts.pipeline.onLog(log));
    const nextLook = async () => {
      await look();
      parts.clock.endWaits();
      await settle();
    };
    return { ...parts, leaders, nextLook };
  }

  test('without a stored offset holds up no other one, and begins once it has a leader, with its first offset', async () => {
    const { pipeline, clock, leaders, nextLook, assign, known, fatal, listener } = oneLeaderless([]);
    clock.holdWaits();
    expect(await assign()).toEqual([at('orders', 0, 3n), at('payments', 0, 3n), at('payments', 1, 3n)]);
    expect(pipeline.report().state).toBe('running');
    await nextLook();
    expect(pipeline.positions()).toHaveLength(3);
    leaders.led = true;
    await nextLook();
    expect(pipeline.positions()).toContainEqual(at('orders', 1, 3n));
    expect(known).toHaveLength(4);
    expect(pipeline.report().partitions.filter(({ leaderlessSince }) => leaderlessSince)).toEqual([]);
    expect([fatal, listener.failed]).toEqual([[], []]);
  });

  test('with a stored offset is opened like the others, so that it is read on from there', async () => {
    const { assign, initialized } = oneLeaderless(ALL);
    expect(await assign()).toEqual(ALL);
    expect(initialized).toEqual([]);
  });

  test('is not opened any more once its assignment was replaced', async () => {
    const { pipeline, clock, leaders, nextLook, assign, known } = oneLeaderless([]);
    clock.holdWaits();
    await assign();
    assignAnew(pipeline, []);
    leaders.led = true;
    await nextLook();
    await nextLook();
    expect(known).toHaveLength(3);
  });
});

/** A clock that each wait moves on by its length, and nothing else; the time of day is set forward each time it is read. */
function steppingClock() {
  let now = 0;
  let hours = 0;
  return {
    now: () => {
      hours += 1;
      return new Date(hours * 3_600_000);
    },
    steady: () => new Date(now),
    wait: async (ms: number) => {
      now += ms;
    },
  };
}

const ranged = (...ranges: (Pick<LogRange, 'start' | 'end'> | Error)[]) => ({
  asked: 0,
  topicIds: async () => new Map([[PARTITION.topic, 'ORkDSGWzSGqfvNN4ktnfyQ']]),
  requireListed: async () => undefined,
  knowsEpoch: async () => true,
  async logRanges() {
    const range = ranges[Math.min(this.asked, ranges.length - 1)];
    this.asked += 1;
    if (range instanceof Error || range === undefined) {
      throw range;
    }
    return [{ ...PARTITION, ...range }];
  },
});

const position = { ...PARTITION, offset: 100n };
const never = new AbortController().signal;

test('a log that starts above the position has lost records: it says which, and where to go on', async () => {
  const waiting = findPosition(ranged({ start: 130n, end: 500n }), position, 'fail', steppingClock(), never);
  await expect(waiting).rejects.toMatchObject({ code: 'OFFSETS_GONE' });
  await expect(waiting).rejects.toThrow('30 offsets (100 to 129) were deleted');
});

test('where gaps are skipped, a log that starts above the position is read from its start', async () => {
  const found = findPosition(ranged({ start: 130n, end: 500n }), position, 'skip', steppingClock(), never);
  expect(await found).toBe(130n);
});

test('a log that ends below the position for 30 s is another topic of the same name', async () => {
  const source = ranged({ start: 0n, end: 20n });
  const waiting = findPosition(source, position, 'fail', steppingClock(), never);
  await expect(waiting).rejects.toMatchObject({ code: 'STORED_OFFSET_AHEAD' });
  expect(source.asked).toBeGreaterThan(25);
});

test('a log that looks too short only for a moment is waited for', async () => {
  await findPosition(
    ranged({ start: 0n, end: 20n }, { start: 0n, end: 100n }),
    position,
    'fail',
    steppingClock(),
    never,
  );
});

test('brokers that cannot answer say nothing about the log', async () => {
  await findPosition(ranged(new Error('away'), { start: 0n, end: 100n }), position, 'fail', steppingClock(), never);
});

test('a first reading after a long silence of the brokers is not the last of 30 s: it may be stale', async () => {
  const silence = Array.from({ length: 40 }, () => new Error('away'));
  const source = ranged(...silence, { start: 0n, end: 20n }, { start: 0n, end: 100n });
  expect(await findPosition(source, position, 'fail', steppingClock(), never)).toBe(100n);
});

test('a log that knows only earlier epochs for 30 s is not the one that was read', async () => {
  const source = { ...ranged({ start: 0n, end: 500n }), knowsEpoch: async () => false };
  const waiting = findPosition(source, { ...position, leaderEpoch: 7 }, 'fail', steppingClock(), never);
  await expect(waiting).rejects.toMatchObject({ code: 'LOG_TRUNCATED' });
  await expect(waiting).rejects.toThrow('up to offset 100 under the leader epoch 7');
  expect(source.asked).toBeGreaterThan(25);
});

test('one that does so only for a moment, or cannot tell, is asked again', async () => {
  const answers = [async () => false, async () => Promise.reject(new Error('away'))];
  const knowsEpoch = () => (answers.shift() ?? (async () => true))();
  const source = { ...ranged({ start: 0n, end: 500n }), knowsEpoch };
  expect(await findPosition(source, position, 'fail', steppingClock(), never)).toBe(100n);
});

test('an end of the assignment ends the waiting', async () => {
  await findPosition(ranged({ start: 0n, end: 20n }), position, 'fail', steppingClock(), AbortSignal.abort());
});
