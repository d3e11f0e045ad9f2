import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below every system's range for outgoing connections: no client may take the port of a stopped server that starts
 * again. A client that tried to reach that server from its own port would connect to itself.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;

/** Processes that run tests beside each other have different ports: that of a stopped server stays free for it. */
const SHARES = 5;
const SHARE = (LAST_PORT + 1 - FIRST_PORT) / SHARES;
const FIRST_OF_SHARE = FIRST_PORT + (Number(process.env['JEST_WORKER_ID'] ?? 0) % SHARES) * SHARE;

/** Ports of servers that may be stopped, or not started yet. */
const given = new Set<number>();

/**
 * A TCP port of the loopback interface that no process listens on, and that this process was not given before.
 *
 * @param usual taken when it is free. @default a random one from 20000 to 29999
 */
export async function freePort(usual?: number): Promise<number> {
  if (usual !== undefined && (await isFree(usual))) {
    return usual;
  }
  for (;;) {
    const port = FIRST_OF_SHARE + randomInt(SHARE);
    if (given.size > SHARE / 2) {
      given.clear();
    }
    if (given.has(port)) {
      continue;
    }
    given.add(port);
    if (await isFree(port)) {
      return port;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, '0.0.0.0'));
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
