import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What {@link ConnectionLimit} is made from. */
export interface ConnectionLimitOptions {
  /** Most connections that are open at once. */
  readonly connections: number;
  /** Silence, in milliseconds, between two looks at a connection with an answer on its way. */
  readonly answerTimeout: number;
  /** Called with the address of each client whose connection is closed to make room. */
  readonly onEvicted: (peer: string | undefined) => void;
}

interface Connection {
  readonly socket: Socket;
  /** Requests that have arrived and whose answers have not left. */
  requests: number;
}

/** Tells a connection apart from all that are open; with TLS the same for the TCP socket and the TLS socket on it. */
const keyOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

/**
 * Bounds the open connections of a server, those in the middle of a TLS handshake included. At the bound a new one is
 * let in, and the connection is closed that has been idle for longest: since its last answer, or since it was opened.
 * The bytes of a request that is not complete count for nothing. All may come from one address, through SNAT, so none
 * is told apart by that.
 *
 * A connection whose request is being answered goes only when those are the majority, the longest under way first: else
 * clients that take no answers could hold all places but a few, for which the rest would then compete.
 */
export class ConnectionLimit {
  readonly #open = new Map<string, Connection>();
  // Both in the order of the time since when.
  readonly #idle = new Set<Connection>();
  readonly #busy = new Set<Connection>();
  readonly #options: ConnectionLimitOptions;

  constructor(server: Server, options: ConnectionLimitOptions) {
    this.#options = options;
    server.on('connection', (socket) => this.#opened(socket));
    server.on('request', (request, response) => this.#asked(request, response));
    // Node's own closes none in a TLS handshake, so the server would stay open until that times out.
    server.closeAllConnections = () => this.#closeAll();
  }

  /** The TCP socket of a connection that is open, given it or the TLS socket on it. */
  socketBelow(socket: Socket): Socket | undefined {
    return this.#open.get(keyOf(socket))?.socket;
  }

  #opened(socket: Socket): void {
    if (this.#idle.size + this.#busy.size >= this.#options.connections) {
      this.#evict();
    }
    const key = keyOf(socket);
    const connection = { socket, requests: 0 };
    this.#open.set(key, connection);
    this.#idle.add(connection);
    socket.once('close', () => {
      this.#idle.delete(connection);
      this.#busy.delete(connection);
      if (this.#open.get(key) === connection) {
        this.#open.delete(key);
      }
    });
  }

  #evict(): void {
    const connections = this.#idle.size >= this.#busy.size ? this.#idle : this.#busy;
    for (const connection of connections) {
      connections.delete(connection);
      this.#options.onEvicted(connection.socket.remoteAddress);
      connection.socket.destroy();
      return;
    }
  }

  #asked({ socket }: IncomingMessage, response: ServerResponse): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) {
      return;
    }
    socket.setTimeout(this.#options.answerTimeout);
    connection.requests += 1;
    this.#idle.delete(connection);
    this.#busy.add(connection);
    response.once('close', () => {
      connection.requests -= 1;
      if (connection.requests === 0 && this.#busy.delete(connection)) {
        this.#idle.add(connection);
      }
    });
  }

  #closeAll(): void {
    for (const { socket } of this.#open.values()) {
      socket.destroy();
    }
  }
}
