import { describe, expect, test } from '@jest/globals';
import { MASK, shownKey, shownValue } from '../../../settings/schema/shown-value.ts';

describe('a refused value', () => {
  test.each([
    ...['8081x', '99999', 'disabled', 'optional', 'external', 'earlist', '10.1.2.3:70000', 'kafka:99999'],
    ...['5min', '30sec', '90 minutes', 'PT5M', '1h30m', '2MiB', '512Megabyte', '10 MB'],
  ])('that is a slip of every day is shown: %s', (text) => {
    expect(shownValue(text)).toBe(text);
  });

  test.each([
    'correct-horse-battery-staple-9',
    'Tr0ub4dor&3',
    'hunter2hunter2',
    'user:swordfish',
    'sk_live_51H8xJ2eZv',
  ])('that may be a secret is not: %s', (text) => {
    expect(shownValue(text)).toBe(MASK);
  });
});

describe('a key that is not known', () => {
  test.each([
    ...['compression', 'prometheus', 'distribution', 'application', 'pgbouncer', 'connection_limit', 'currentSchema'],
    ...['PGPASSWORD', 'NODE_TLS_REJECT_UNAUTHORIZED', 'MANAGEMENT_SERVER_PORT', 'LD_PRELOAD'],
  ])('is shown where it looks like a name: %s', (key) => {
    expect(shownKey(key)).toBe(key);
  });

  test.each(['Tr0ub4dor3', 'aB3dE6gH9', 'x7Kq2', 'postgresql://u:p@h/d'])('is masked where it does not: %s', (key) => {
    expect(shownKey(key)).toBe(MASK);
  });
});
