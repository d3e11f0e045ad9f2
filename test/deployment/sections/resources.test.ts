import { expect, test } from '@jest/globals';
import { memoryBytes } from '../../../deployment/sections/resources.ts';

test('sizes are binary', () => {
  expect(memoryBytes('256Mi')).toBe(268_435_456);
  expect(memoryBytes('1Gi')).toBe(1_073_741_824);
});

test.each(['256M', '1.5Gi', '', 'Mi', '-1Mi'])('%j is none', (size) => {
  expect(() => memoryBytes(size)).toThrow(RangeError);
});
