import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TcpProxy } from '../../../dev/chaos/tcp-proxy.ts';

describe('the TCP proxy', () => {
  let proxy: TcpProxy;
  let echo: Server;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    echo = createServer({ allowHalfOpen: true }, (socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined).pipe(socket);
    });
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    proxy = await TcpProxy.listen();
    proxy.forwardTo((echo.address() as AddressInfo).port);
  });

  afterEach(async () => {
    await proxy.close();
    echo.close();
    for (const socket of sockets.splice(0)) {
      socket.destroy();
    }
  });

  const open = async (): Promise<Socket> => {
    const socket = connect({ port: proxy.port, host: '127.0.0.1' });
    sockets.push(socket.on('error', () => undefined));
    await once(socket, 'connect');
    return socket;
  };

  const answerTo = async (socket: Socket, question: string): Promise<string> => {
    socket.write(question);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return answer.toString();
  };

  test('passes on what either side says, to the end', async () => {
    const socket = await open();
    const large = 'x'.repeat(3_000_000);
    socket.end(large);
    expect((await text(socket)) === large).toBe(true);
  });

  test('resets open connections and refuses new ones while it is cut', async () => {
    const socket = await open();
    expect(await answerTo(socket, 'a')).toBe('a');
    proxy.cut();
    await expect(once(socket, 'data')).rejects.toThrow('ECONNRESET');
    const refused = connect({ port: proxy.port, host: '127.0.0.1' });
    await expect(once(refused, 'end')).rejects.toThrow('ECONNRESET');
  });

  test('lets connections in again after that', async () => {
    proxy.cut();
    proxy.restore();
    expect(await answerTo(await open(), 'b')).toBe('b');
  });

  test('breaks the connection of a client whose server has broken off', async () => {
    echo.once('connection', (socket) => socket.resetAndDestroy());
    const socket = connect({ port: proxy.port, host: '127.0.0.1' });
    await expect(once(socket, 'data')).rejects.toThrow('ECONNRESET');
  });

  test('delays each direction while it is told to', async () => {
    const socket = await open();
    await answerTo(socket, 'warm');
    proxy.delayBy(60);
    const before = performance.now();
    await answerTo(socket, 'c');
    expect(performance.now() - before).toBeGreaterThanOrEqual(118);
    proxy.delayBy(3_600_000);
    proxy.delayBy(0);
    expect(await answerTo(socket, 'd')).toBe('d');
  });
});
