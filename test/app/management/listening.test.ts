import { on, once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { closeWithin, ListenError } from '../../../app/management/listening.ts';
import { freePort } from '../../../dev/run/free-port.ts';
import { managementOptions, settingsWith, startManagement } from './running-management.ts';
import { certificateFolder, sslIn, testCertificate } from './test-certificate.ts';

function onAddress(address: string, port: number) {
  const { settings } = managementOptions();
  return { settings: { ...settings, server: { address, port } } };
}

test('port 0 takes a free one and says which', async () => {
  const { management, address } = await startManagement();
  expect(address.port).toBeGreaterThan(0);
  const answer = await fetch(`http://127.0.0.1:${address.port}/actuator/health/ping`);
  expect(await answer.json()).toEqual({ status: 'UP' });
  await management.stop();
});

test('a port in use is named, with the setting that changes it', async () => {
  const { management, address } = await startManagement();
  const second = startManagement(onAddress('127.0.0.1', address.port));
  await expect(second).rejects.toThrow(ListenError);
  await expect(second).rejects.toThrow(
    `cannot listen on 127.0.0.1, port ${address.port}: another process listens there; set server.port (SERVER_PORT) to a free port, or to 0 for any free one`,
  );
  await management.stop();
});

test("an address that is not this machine's is named, with the setting that changes it", async () => {
  await expect(startManagement(onAddress('192.0.2.1', 0))).rejects.toThrow(
    'cannot listen on 192.0.2.1, port 0: this machine has no such address; set server.address (SERVER_ADDRESS)',
  );
});

/** A connection that has sent some bytes and, where they ask for one, has its answer. */
async function connectionAfter(port: number, bytes: string, answer: RegExp): Promise<Socket> {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  socket.setEncoding('latin1');
  for await (const [data] of on(socket, 'data')) {
    if (answer.test(String(data))) {
      break;
    }
  }
  return socket;
}

test('stopping closes connections that wait for a next request, and listens no more', async () => {
  const { management, address } = await startManagement();
  const ping = 'GET /actuator/health/ping HTTP/1.1\r\nHost: h\r\n\r\n';
  const socket = await connectionAfter(address.port, ping, /UP/);
  const closed = once(socket, 'close');
  await management.stop();
  await closed;
  await expect(fetch(`http://127.0.0.1:${address.port}/actuator`)).rejects.toThrow();
});

test('a client in the middle of a request is cut when its time is over', async () => {
  const { management, app, address } = await startManagement();
  const half = 'GET /actuator/health/ping HTTP/1.1\r\nHost: h\r\n\r\nGET /actuator/health/ping HTTP/1.1\r\nHo';
  const socket = await connectionAfter(address.port, half, /UP/);
  const closed = once(socket, 'close');
  await closeWithin(app, 1);
  await closed;
  await management.stop();
});

test('a TLS handshake that is never finished is cut as well, before it times out', async () => {
  const folder = certificateFolder(await testCertificate('unfinished'));
  const { settings } = managementOptions();
  const { management, app, address } = await startManagement({
    settings: { ...settings, server: { ...settings.server, ssl: sslIn(folder) } },
  });
  const accepted = once(app.server, 'connection');
  const closed = once(connect(address.port, '127.0.0.1'), 'close');
  await accepted;
  await closeWithin(app, 1);
  await closed;
  await management.stop();
  rmSync(folder, { recursive: true });
}, 5_000);

test('a request under way when the server ends gets its answer', async () => {
  const hang = () => new Promise<never>(() => undefined);
  const { management, app, address } = await startManagement({ checkDatabase: hang });
  const arrived = once(app.server, 'request');
  const answer = fetch(`http://127.0.0.1:${address.port}/actuator/health`);
  await arrived;
  await management.stop();
  expect((await answer).status).toBe(503);
  expect(await (await answer).json()).toMatchObject({ components: { db: { status: 'OUT_OF_SERVICE' } } });
});

describe('with a management port', () => {
  test('nothing listens on server.port', async () => {
    const port = await freePort();
    const { management, address } = await startManagement({
      settings: settingsWith({ server: { port: 0 } }, { server: { port, address: '127.0.0.1' } }),
    });
    expect((await fetch(`http://127.0.0.1:${address.port}/actuator/health/ping`)).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${port}/actuator/health/ping`)).rejects.toThrow();
    await management.stop();
  });

  test('a port in use is named with the setting that it came from', async () => {
    const { management, address } = await startManagement();
    await expect(startManagement({ settings: settingsWith({ server: { port: address.port } }) })).rejects.toThrow(
      'set management.server.port (MANAGEMENT_SERVER_PORT) to a free port',
    );
    await management.stop();
  });
});

test('the server logs nothing of its own when it listens, for the application says it once', async () => {
  const lines: string[] = [];
  const { management } = await startManagement({ logDestination: { write: (line) => lines.push(line) } });
  await management.stop();
  expect(lines.filter((line) => line.includes('istening'))).toEqual([]);
});
