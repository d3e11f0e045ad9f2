import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { freePort } from '../../../dev/run/free-port.ts';

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

describe('a free port', () => {
  test('is the usual one when nobody has it', async () => {
    const port = await freePort();
    expect(await freePort(port)).toBe(port);
  });

  test.each(['127.0.0.1', '0.0.0.0'])('is another one when somebody listens there on %s', async (host) => {
    const usual = await freePort();
    server = createServer().listen(usual, host);
    await once(server, 'listening');
    expect(await freePort(usual)).not.toBe(usual);
  });

  test('is outside the range from which the system takes ports for outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
    expect(Math.min(...ports)).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...ports)).toBeLessThan(30_000);
  });
});
