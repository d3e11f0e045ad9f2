import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { requestCredentials } from '../../../app/credentials/credentials.ts';
import { answerLimit, limitedText, usualCause } from '../../../app/network/invalid-answer.ts';

const MEBIBYTE = 2 ** 20;

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that answers without an end, as fast as it is read. */
async function endless(status: number): Promise<{ readonly url: URL; readonly sent: () => number }> {
  let sent = 0;
  const piece = Buffer.alloc(65_536, 'a');
  const server = createServer((_, response) => {
    response.writeHead(status);
    const send = (): void => {
      while (!response.destroyed && response.write(piece)) sent += piece.length;
      response.once('drain', send);
    };
    send();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token`), sent: () => sent };
}

test.each([200, 400, 503])(
  'an endless answer of status %i for a login is read to 1 MiB, and told by its address',
  async (status) => {
    const { url, sent } = await endless(status);
    const request = { name: 'the token endpoint', url, init: { method: 'POST' }, secrets: [] };
    await expect(requestCredentials(request)).rejects.toMatchObject({
      name: 'CredentialsUnavailable',
      message: `the token endpoint ${url.href} answered with more than 1048576 bytes, and no more are read: a proxy or a wrong address answers like that`,
    });
    expect(sent()).toBeLessThan(64 * MEBIBYTE);
  },
);

test.each([
  ['HTTP/1.1 400 Bad Request', 'HTTP'],
  ['E\0\0\0\x88SFATAL\0', 'PostgreSQL'],
  ['\x15\x03\x03\0\x02\x02', 'TLS'],
])('what answers as %j is named: %s', (first, name) => {
  expect(usualCause(Buffer.from(first, 'latin1'))).toMatch(new RegExp(`^th(is|ese) .*${name}`));
});

test.each(['E', 'ENOUGH S', 'SSH-2.0', ''])('what answers as %j is not known', (first) => {
  expect(usualCause(Buffer.from(first, 'latin1'))).toMatch(/^a proxy, a wrong port or one that takes TLS alone/);
});

test('an answer of exactly the bound is read, and one byte more is not', async () => {
  expect(await limitedText(new Response('grün'), 5)).toBe('grün');
  await expect(limitedText(new Response('grüne'), 5)).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
  expect(await limitedText(new Response(null), 5)).toBe('');
});

test('an answer of a broker may have half of the memory limit, and as much as in librdkafka at least', () => {
  expect(answerLimit(512 * MEBIBYTE, 8_192 * MEBIBYTE)).toBe(256 * MEBIBYTE);
  expect(answerLimit(64 * MEBIBYTE, 8_192 * MEBIBYTE)).toBe(100_000_000);
  expect(answerLimit(null, 1_024 * MEBIBYTE)).toBe(512 * MEBIBYTE);
  expect(answerLimit(null, 65_536 * MEBIBYTE)).toBe(1_024 * MEBIBYTE);
});
