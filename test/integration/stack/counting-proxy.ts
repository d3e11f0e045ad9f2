import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A port that leads to another one. */
export interface CountingProxy {
  readonly port: number;
  /** Connections so far. */
  readonly connections: number;
  close(): void;
}

/** Counts the connections to a port of the loopback interface. */
export async function countConnections(target: number): Promise<CountingProxy> {
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const broker = connect(target, '127.0.0.1');
    // A reset of one side is passed on to the other.
    client.on('error', () => broker.resetAndDestroy());
    broker.on('error', () => client.resetAndDestroy());
    client.pipe(broker).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    close: () => server.close(),
  };
}
