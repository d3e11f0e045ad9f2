import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Passes TCP connections of the loopback interface on to a port, and delays or breaks them on demand. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target = 0;
  #latencyMs = 0;
  #isRefusing = false;

  private constructor() {
    // A half-closed connection still passes on data in the other direction.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  /** Listens on a free port; until {@link forwardTo} was called, connections are refused. */
  static async listen(): Promise<TcpProxy> {
    const proxy = new TcpProxy();
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The port of the loopback interface that further connections lead to. */
  forwardTo(port: number): void {
    this.#target = port;
  }

  /** How much later each piece of data arrives, in either direction; 0 is no delay. */
  delayBy(latencyMs: number): void {
    this.#latencyMs = latencyMs;
  }

  /** Breaks all connections by a reset and every new one, until {@link restore}. */
  cut(): void {
    this.#isRefusing = true;
    this.#reset();
  }

  /** Lets connections in again. */
  restore(): void {
    this.#isRefusing = false;
  }

  /** Breaks all connections and stops listening. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#reset();
    await closed;
  }

  #reset(): void {
    for (const socket of this.#sockets) {
      socket.resetAndDestroy();
    }
  }

  #accept(client: Socket): void {
    if (this.#isRefusing || this.#target === 0) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    // A reset of one side is passed on to the other.
    client.on('error', () => server.resetAndDestroy());
    server.on('error', () => client.resetAndDestroy());
    void this.#pass(client, server);
    void this.#pass(server, client);
  }

  /** Passes data on until `from` has ended or either socket breaks: then the listeners of `error` close the other. */
  async #pass(from: Socket, to: Socket): Promise<void> {
    try {
      // The other direction may still be open: the end of this one must not destroy the socket.
      for await (const chunk of from.iterator({ destroyOnReturn: false })) {
        if (this.#latencyMs > 0) {
          await delay(this.#latencyMs);
        }
        if (!to.write(chunk)) {
          await once(to, 'drain');
        }
      }
      to.end();
    } catch {
      from.resetAndDestroy();
      to.resetAndDestroy();
    }
  }
}
