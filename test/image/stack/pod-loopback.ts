import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { RunFolder } from '../../../dev/run/run-folder.ts';
import { testRun } from '../../integration/stack/test-run.ts';

/** Program of the Pod's side: hands connections to a port of its loopback interface on to a socket in the file system. */
const POD_SIDE = `
  const { createServer, connect } = require('node:net');
  const [, port, path] = process.argv;
  createServer((near) => {
    const far = connect(path);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => { near.destroy(); far.destroy(); });
  }).listen(Number(port), '127.0.0.1');
`;

/** Takes the connections of the Pod's side to a port of this machine. */
async function listenForPod(run: RunFolder, port: number, path: string): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          near.destroy();
          far.destroy();
          sockets.delete(socket);
        });
    }
  });
  server.listen(path);
  await once(server, 'listening');
  run.beforeClose(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
}

/**
 * Gives a Pod the loopback ports of this machine under the same numbers, since a Pod has a loopback interface of its own,
 * and Kafka tells its clients to come to 127.0.0.1.
 *
 * @param pid a process in the Pod's network
 * @param ports what listens here on 127.0.0.1
 */
export async function shareLoopback(pid: number, ports: readonly number[]): Promise<void> {
  const run = await testRun();
  for (const port of ports) {
    const path = join(run.path, `pod-${port}.sock`);
    await listenForPod(run, port, path);
    await run.spawn({
      program: 'nsenter',
      args: ['--target', String(pid), '--net', process.execPath, '--eval', POD_SIDE, String(port), path],
      env: { PATH: process.env['PATH'] },
    });
  }
}
