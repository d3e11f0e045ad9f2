import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Settings } from '../../contract/settings.ts';

/** The HTTP server cannot listen where the settings say; the message says why and what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there; set server.port (SERVER_PORT) to a free port, or to 0 for any free one',
  EACCES: 'this user may not; set server.port (SERVER_PORT) to a port above 1023',
  EADDRNOTAVAIL:
    'this machine has no such address; set server.address (SERVER_ADDRESS) to one of its own, or to 0.0.0.0',
  ENOTFOUND: 'no such host is known; set server.address (SERVER_ADDRESS) to an address of this machine, or to 0.0.0.0',
};

/**
 * Listens.
 *
 * @returns The address with the port that is really used.
 * @throws ListenError when that is not possible
 */
export async function listen(app: FastifyInstance, { port, address }: Settings['server']): Promise<AddressInfo> {
  try {
    await app.listen({ port, host: address });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new ListenError(`cannot listen on ${address}, port ${port}: ${REASONS[code] ?? message}`, { cause: error });
  }
  return app.server.address() as AddressInfo;
}

/** Closes the server; connections that still have a request under way after `timeoutMs` are cut. */
export async function closeWithin(app: FastifyInstance, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  await app.close();
  clearTimeout(timer);
}
