import { describe, expect, test } from '@jest/globals';
import { awaitAccounted, type Positions, timeToRecover } from '../../../dev/verdict/positions.ts';

const ends = new Map([
  [0, 5n],
  [1, 3n],
]);

/** Answers with the given positions one after the other, and with the last one for ever. */
function reading(...answers: readonly (readonly [bigint, bigint])[]): () => Promise<Positions> {
  let asked = 0;
  return async () => {
    const [a, b] = answers[Math.min(asked, answers.length - 1)] ?? [0n, 0n];
    asked += 1;
    const next = new Map([
      [0, a],
      [1, b],
    ]);
    return {
      next,
      start: new Map([
        [0, 0n],
        [1, 0n],
      ]),
      end: ends,
      deadLetters: 0n,
    };
  };
}

describe('waiting until all is accounted for', () => {
  test('ends well when every partition has reached its end', async () => {
    const finding = await awaitAccounted(ends, reading([0n, 0n], [5n, 2n], [5n, 4n]), () => true);
    expect(finding).toMatchObject({ expected: '2', found: '2', isWell: true, details: [] });
  });

  test('gives up without progress and names the partitions that are behind', async () => {
    const finding = await awaitAccounted(ends, reading([1n, 1n], [5n, 2n]), () => true, 50);
    expect(finding).toMatchObject({ expected: '2', found: '1', isWell: false });
    expect(finding.details).toEqual(['no progress for 0.05 s', 'partition 1: stored position 2, log end 3']);
  });

  test('gives up at once when the consumer has ended', async () => {
    const finding = await awaitAccounted(ends, reading([0n, 3n]), () => false);
    expect(finding.details).toEqual(['the consumer has ended', 'partition 0: stored position 0, log end 5']);
  });
});

/** Stored offset and log end of partitions 0, 1, ... */
type Reading = readonly (readonly [next: number, end: number])[];

function positions(reading: Reading): Positions {
  const offsets = (pick: 0 | 1) => new Map(reading.map((pair, partition) => [partition, BigInt(pair[pick])]));
  return { next: offsets(0), end: offsets(1), start: new Map(), deadLetters: 0n };
}

/** Answers one after the other; the last one for ever. */
function source(readings: readonly (Reading | 'away')[]) {
  let asked = 0;
  return {
    read: async (): Promise<Positions> => {
      const reading = readings[Math.min(asked, readings.length - 1)];
      asked += 1;
      if (reading === undefined || reading === 'away') {
        throw new Error('away');
      }
      return positions(reading);
    },
    asked: () => asked,
  };
}

const recovery = async (readings: readonly (Reading | 'away')[]) => {
  const { read, asked } = source(readings);
  const ms = await timeToRecover(read, 100, 1);
  return ms === undefined ? 'never' : asked();
};

describe('the time to recover', () => {
  test('lasts until what was produced afterwards is written', async () => {
    expect(await recovery([[[5, 5]], [[5, 8]], [[7, 9]], [[8, 12]]])).toBe(4);
  });

  test('does not end by being up to date with what was produced before', async () => {
    expect(await recovery([[[5, 5]]])).toBe('never');
  });

  test('needs every partition: one without an owner is not made up for by the others', async () => {
    const stuck: Reading = [
      [5, 9],
      [9, 9],
    ];
    const before: Reading = [
      [5, 5],
      [5, 5],
    ];
    expect(await recovery([before, stuck])).toBe('never');
  });

  test('goes on asking while Kafka or PostgreSQL is away', async () => {
    expect(await recovery(['away', [[0, 1]], 'away', [[1, 2]], [[2, 2]]])).toBe(5);
  });
});
