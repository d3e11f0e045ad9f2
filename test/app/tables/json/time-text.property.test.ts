import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { timeOfEpoch } from '../../../../app/tables/json/time-text.ts';

const UNITS = ['epoch-days', 'epoch-seconds', 'epoch-millis', 'epoch-micros', 'epoch-nanos'] as const;
const KINDS = ['date', 'time', 'timestamp'] as const;

const count = fc.oneof(
  fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }),
  fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }),
  fc.constantFrom(0n, -1n, 86_399_999n, -86_400_000n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n), 10n ** 16n, 10n ** 15n),
);

test('a point in time by a number alone is that by arithmetic of any size', () => {
  fc.assert(
    fc.property(count, fc.constantFrom(...UNITS), fc.constantFrom(...KINDS), (number, unit, kind) => {
      // With an exponent, no number of JavaScript is made of it.
      expect(timeOfEpoch(String(number), unit, kind)).toBe(timeOfEpoch(`${number}e0`, unit, kind));
    }),
    { numRuns: 2_000 },
  );
});
