import { expect, test } from '@jest/globals';
import type { Logger } from '../../app/logging/logger.ts';
import { prepareTables } from '../../app/start-up.ts';
import { OutageError } from '../../app/stream/ports/stream-errors.ts';

test('a failed attempt at the tables is logged as waiting, but not once the consumer ends', async () => {
  const lines: string[] = [];
  const logger = { warn: (_fields: object, message: string) => lines.push(message) } as unknown as Logger;
  const ending = new AbortController();
  let attempts = 0;
  const prepare = async () => {
    attempts += 1;
    if (attempts === 2) {
      ending.abort();
    }
    throw new OutageError(`attempt ${attempts}`);
  };
  await prepareTables(prepare, 'orders', logger, ending.signal);
  expect(attempts).toBe(2);
  expect(lines).toEqual(['waiting for PostgreSQL']);
});
