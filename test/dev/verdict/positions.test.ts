import { describe, expect, it } from '@jest/globals';
import { timeToRecover } from '../../../dev/chaos/recovery.ts';
import type { Positions } from '../../../dev/verdict/positions.ts';

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
  it('lasts until what was produced afterwards is written', async () => {
    expect(await recovery([[[5, 5]], [[5, 8]], [[7, 9]], [[8, 12]]])).toBe(4);
  });

  it('does not end by being up to date with what was produced before', async () => {
    expect(await recovery([[[5, 5]]])).toBe('never');
  });

  it('needs every partition: one without an owner is not made up for by the others', async () => {
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

  it('goes on asking while Kafka or PostgreSQL is away', async () => {
    expect(await recovery(['away', [[0, 1]], 'away', [[1, 2]], [[2, 2]]])).toBe(5);
  });
});
