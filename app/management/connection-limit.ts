import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { rateLimitedWarning } from '../logging/logger.ts';
import { openFilesLimit } from '../metrics/process/process-status.ts';

/** At most half of the files that the process may open: the others are for PostgreSQL and Kafka. */
const MOST_CONNECTIONS = 512;

/** In milliseconds. Node closes at the second timeout in which the client read nothing: after 15 s at the latest. */
const ANSWER_TIMEOUT_MS = 7_500;

/** Bounds the open connections of the server, and warns of those that are closed. */
export function limitConnections(app: FastifyInstance): ConnectionLimit {
  const connections = Math.min(MOST_CONNECTIONS, Math.floor((openFilesLimit() ?? Number.POSITIVE_INFINITY) / 2));
  const onEvicted = rateLimitedWarning(
    app,
    `connections closed to make room: more than ${connections} were open at once`,
  );
  return new ConnectionLimit(app.server, { connections, answerTimeout: ANSWER_TIMEOUT_MS, onEvicted });
}

/** What {@link ConnectionLimit} is made from. */
interface ConnectionLimitOptions {
  /** Most connections that are open at once. */
  readonly connections: number;
  /** Timeout, in milliseconds, of a socket while a request on it is being answered. */
  readonly answerTimeout: number;
  /** Called with the remote address of each connection that is closed to make room. */
  readonly onEvicted: (peer: string | undefined) => void;
}

interface LimitedConnection {
  readonly socket: Socket;
  /** Requests that have arrived and are not answered completely. */
  requests: number;
}

/** One key per open connection; with TLS the same for the TCP socket and the TLS socket on it. */
const keyOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

/**
 * Bounds the open connections of a server, those in the middle of a TLS handshake included. At the bound a new one is
 * let in, and the connection is closed that has been idle for longest: since its last answer, or since it was opened.
 * The bytes of an incomplete request do not count as activity. SNAT may give all connections one address, so addresses
 * do not count either.
 *
 * A connection with a request that is being answered is closed only when those are the majority, the longest under way
 * first: else clients that read no answers could hold nearly all connections, and the others would compete for the
 * rest.
 */
export class ConnectionLimit {
  readonly #open = new Map<string, LimitedConnection>();
  // Both in insertion order: the connection that has been idle or busy for longest comes first.
  readonly #idle = new Set<LimitedConnection>();
  readonly #busy = new Set<LimitedConnection>();
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
