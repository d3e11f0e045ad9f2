import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ManagementEndpoint } from '../../contract/actuator.ts';
import { environmentName } from '../../settings/schema/setting-list.ts';

/** The HTTP server cannot listen on the address of the settings; the message has the reason and the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const namedSetting = (setting: string): string => `${setting} (${environmentName(setting)})`;

function listenReason(code: string, { settings }: ManagementEndpoint): string | undefined {
  const port = `set ${namedSetting(settings.port)}`;
  const address = `set ${namedSetting(settings.address)}`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `another process listens there; ${port} to a free port, or to 0 for any free one`,
    EACCES: `this user may not; ${port} to a port above 1023`,
    EADDRNOTAVAIL: `this machine has no such address; ${address} to one that it has, or to 0.0.0.0`,
    ENOTFOUND: `no such host is known; ${address} to an address of this machine, or to 0.0.0.0`,
  };
  return reasons[code];
}

/**
 * Listens on the address and port of the settings.
 *
 * @returns The address with the port that is used, also where the settings say 0.
 * @throws ListenError when that is not possible
 */
export async function listen(app: FastifyInstance, endpoint: ManagementEndpoint): Promise<AddressInfo> {
  await app.ready();
  // Not by Fastify, which logs one line for each of the machine's addresses.
  return listenAt(app.server, endpoint);
}

/** The same for a server that is no Fastify. */
export async function listenAt(server: Server, endpoint: ManagementEndpoint): Promise<AddressInfo> {
  const { port, address } = endpoint;
  try {
    server.listen(port, address);
    await once(server, 'listening');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const reason = listenReason(code, endpoint) ?? message;
    throw new ListenError(`cannot listen on ${address}, port ${port}: ${reason}`, { cause: error });
  }
  return server.address() as AddressInfo;
}

/** Closes the server; connections that still have a request under way after `timeoutMs` are cut. */
export async function closeWithin(app: FastifyInstance, timeoutMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), timeoutMs);
  await app.close();
  clearTimeout(timer);
}
