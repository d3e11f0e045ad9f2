import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { plainSocket } from '../../../app/network/plain-socket.ts';

const open: { destroy(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) {
    each.destroy();
  }
});

/** Both ends of a connection. */
async function connected(pieces?: 'copied' | 'lent'): Promise<{ readonly socket: Socket; readonly peer: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = plainSocket(pieces).connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [peer] = (await once(server, 'connection')) as [Socket];
  open.push(socket, peer, { destroy: () => server.close() });
  return { socket, peer };
}

/** All that comes, in the very pieces that were handed over. */
async function received(socket: Socket, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  while (pieces.reduce((sum, { length }) => sum + length, 0) < bytes) {
    await once(socket, 'data');
  }
  return Buffer.concat(pieces);
}

test('what was handed over stays as it came, also when other sockets have read since', async () => {
  const [one, other] = [await connected(), await connected()];
  const contents = [Buffer.alloc(1_000_000, 'one'), Buffer.alloc(1_000_000, 'other')];
  const both = [received(one.socket, 1_000_000), received(other.socket, 1_000_000)];
  one.peer.write(contents[0] ?? '');
  other.peer.write(contents[1] ?? '');
  expect((await Promise.all(both)).map((bytes, nth) => bytes.equals(contents[nth] ?? bytes.subarray(1)))).toEqual([
    true,
    true,
  ]);
});

test('it takes as much memory as came, and not the 64 KiB of a read', async () => {
  const { socket, peer } = await connected();
  peer.write(Buffer.alloc(20_000, 'x'));
  const [piece] = (await once(socket, 'data')) as [Buffer];
  expect(piece.buffer.byteLength).toBeLessThanOrEqual(20_000);
});

test('what is lent is in the memory that all sockets read into', async () => {
  const [one, other] = [await connected('lent'), await connected('lent')];
  one.peer.write('one');
  const [first] = (await once(one.socket, 'data')) as [Buffer];
  other.peer.write('other');
  const [second] = (await once(other.socket, 'data')) as [Buffer];
  expect(second.buffer).toBe(first.buffer);
  expect(second.toString()).toBe('other');
});

test('its end is told as that of any other socket', async () => {
  const { socket, peer } = await connected();
  const ended = once(socket, 'close');
  socket.resume();
  peer.end();
  await ended;
  expect(socket.destroyed).toBe(true);
});
