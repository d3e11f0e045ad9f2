import { expect, test } from '@jest/globals';
import { startPositions } from '../../../app/stream/start-positions.ts';

const topic = 'orders';
const ranges = [
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
  const positions = startPositions({ startFrom, ranges, committed }, nothing);
  expect(positions.map(({ offset }) => offset)).toEqual(offsets);
});

test.each(['earliest', 'latest', 'committed'] as const)(
  'a partition added later starts at its beginning, although startFrom is %s',
  (startFrom) => {
    const positions = startPositions({ startFrom, ranges, committed }, new Set([0]));
    expect(positions).toEqual([{ topic, partition: 1, offset: 0n }]);
  },
);
