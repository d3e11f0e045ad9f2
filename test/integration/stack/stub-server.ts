import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a stub answers. */
export interface Answer {
  /** @default 200 */
  readonly status?: number;
  readonly body: string;
}

/** A server of HTTP in the place of one that cannot be started here. */
export interface StubServer {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Starts a server that answers each request as it is told.
 *
 * @param port @default a free one
 */
export async function startStubServer(
  answer: (request: IncomingMessage, body: string) => Answer | Promise<Answer>,
  port = 0,
): Promise<StubServer> {
  const server = createServer(async (request, response) => {
    const { status = 200, body } = await answer(request, await text(request));
    response.writeHead(status).end(body);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
