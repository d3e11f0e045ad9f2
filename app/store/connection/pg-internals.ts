import { BlockList, isIPv6, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import pg, { type ClientBase, type Connection } from 'pg';
import { answerLimit, InvalidAnswerError, usualCause } from '../../network/invalid-answer.ts';

/** The version of pg that these internals belong to, and the only one that package.json lets in. */
export const PG_VERSION = '8.23.1';

/** pg's connections as they are at run time; their types show less. */
export interface PgConnection extends Connection {
  readonly stream: Socket;
  /** Reads the messages of a stream, the socket or TLS on it. */
  attachListeners(stream: Socket): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** A client's connection; its socket is another one once TLS has begun. */
const connectionOf = (client: ClientBase): PgConnection =>
  (client as unknown as { readonly connection: PgConnection }).connection;

/** Closes a connection's socket without the protocol's goodbye: the server may not be there to read it. */
export function destroySocket(client: ClientBase): void {
  connectionOf(client).stream.destroy();
}

/** Clients whose login was bound to the server's certificate, as far as they were watched. */
const bound = new WeakSet<ClientBase>();

const notBound = (how: string): Error =>
  new Error(
    `SASL: channel_binding=require of database.url, and the server asks for ${how} instead of SCRAM-SHA-256-PLUS`,
  );

/**
 * Ends a login that is not bound to the server's certificate (SCRAM-SHA-256-PLUS, RFC 5929), before a password or a proof
 * of it is sent. For a client that has not begun to connect: its own listeners then come behind these.
 */
export function watchChannelBinding(client: ClientBase): void {
  const connection = connectionOf(client);
  const refuse = (how: string) => connection.stream.destroy(notBound(how));
  connection.on('authenticationCleartextPassword', () => refuse('a password in clear'));
  connection.on('authenticationMD5Password', () => refuse('a password in MD5'));
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
    if (mechanisms.includes('SCRAM-SHA-256-PLUS')) {
      bound.add(client);
    } else {
      refuse(mechanisms.join(' or '));
    }
  });
}

/** @throws Error for a client that was let in without a bound login, as by `trust` or by its certificate */
export function requireChannelBinding(client: ClientBase): void {
  if (!bound.has(client)) {
    throw notBound('no password');
  }
}

/** Addresses that no network lies before, those of IPv4 in IPv6 included. */
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether others can read what the socket carries: it has no TLS, and leads neither to this machine nor to a Unix socket. */
function isExposed(socket: Socket): boolean {
  const { remoteAddress } = socket;
  return (
    !(socket instanceof TLSSocket) &&
    remoteAddress !== undefined &&
    !LOOPBACK.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4')
  );
}

/** What a password becomes that the server asks for, and what others on the way can do with it. */
const EXPOSED = {
  authenticationCleartextPassword:
    'a password in clear text over a connection without TLS, which all on the way can read',
  authenticationMD5Password:
    'an MD5 hash of the password over a connection without TLS, against which all on the way can try out passwords',
} as const;

/**
 * Reports a password that others can read, or try out, on its way to the server. SCRAM and certificates send nothing of use
 * to them. For a client that has not begun to connect.
 *
 * @param report called with what the server asked for
 */
export function watchExposedPassword(client: ClientBase, report: (asked: string) => void): void {
  const connection = connectionOf(client);
  for (const [event, asked] of Object.entries(EXPOSED)) {
    connection.on(event, () => {
      if (!connection.stream.destroyed && isExposed(connection.stream)) {
        report(asked);
      }
    });
  }
}

/**
 * Closes the socket when nothing was sent or received for so long. The server's own time-outs do not help against a
 * server that is frozen, or behind a network that swallows everything: without this, a write would wait for ever.
 */
export function endWhenSilent(client: ClientBase, longestSilenceMs: number): { stop(): void } {
  const socket = connectionOf(client).stream;
  const onTimeout = (): void => {
    socket.destroy(new Error(`Connection terminated: PostgreSQL has been silent for ${longestSilenceMs} ms`));
  };
  socket.setTimeout(longestSilenceMs, onTimeout);
  return {
    stop: () => {
      socket.setTimeout(0);
      socket.off('timeout', onTimeout);
    },
  };
}

/** Types of messages that may be long, as in libpq (fe-protocol3.c, VALID_LONG_MESSAGE_TYPE), and the most of all others. */
const LONG_TYPES = 'dDEAVNT';
const MOST_OF_OTHERS = 30_000;

const TYPE_BYTES = 1;
export const MESSAGE_LENGTH_BYTES = 4;

/** Follows the messages of a server through the pieces that they come in. */
class MessageFrames {
  readonly #limit: number;
  readonly #head = Buffer.alloc(TYPE_BYTES + MESSAGE_LENGTH_BYTES);
  #headBytes = 0;
  #left = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws InvalidAnswerError when no message of PostgreSQL begins like that, or it is too long */
  take(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, piece.length - at);
        this.#left -= taken;
        at += taken;
      } else {
        this.#head.writeUInt8(piece[at] ?? 0, this.#headBytes);
        this.#headBytes += 1;
        at += 1;
        this.#begin();
      }
    }
  }

  #begin(): void {
    if (this.#headBytes < this.#head.length) {
      return;
    }
    this.#headBytes = 0;
    const length = this.#head.readUInt32BE(TYPE_BYTES);
    const most = LONG_TYPES.includes(this.#head.toString('latin1', 0, TYPE_BYTES)) ? this.#limit : MOST_OF_OTHERS;
    if (length < MESSAGE_LENGTH_BYTES || length > most) {
      throw new InvalidAnswerError(
        `PostgreSQL sent a message of ${length} bytes, and ${MESSAGE_LENGTH_BYTES} to ${most} are taken ` +
          `(it begins with ${this.#head.toString('hex')}): ${usualCause(this.#head)}`,
      );
    }
    this.#left = length - MESSAGE_LENGTH_BYTES;
  }
}

const unreadableMessage = (error: unknown): InvalidAnswerError =>
  error instanceof InvalidAnswerError
    ? error
    : new InvalidAnswerError(`PostgreSQL sent a message that cannot be read: ${(error as Error).message}`, {
        cause: error,
      });

/**
 * Closes a connection whose server sends a message that is longer than any of PostgreSQL, or that cannot be read. As
 * shipped pg keeps what it waits for without a bound, and ends the process with what it cannot read. A connection whose
 * message was read, and failed what handles it, is closed with that error.
 *
 * @param limit bytes of a message. @default half of the memory limit
 */
export function boundMessages(client: ClientBase, limit = answerLimit()): void {
  const connection = connectionOf(client);
  const { attachListeners } = connection;
  connection.attachListeners = function attachBounded(this: PgConnection, stream) {
    const others = stream.listeners('data');
    let isHandled = false;
    const handle = (event: string, message: unknown): void => {
      isHandled = true;
      this.emit(event, message);
      isHandled = false;
    };
    attachListeners.call(Object.create(this, { emit: { value: handle } }), stream);
    const frames = new MessageFrames(limit);
    for (const parse of stream.listeners('data').filter((listener) => !others.includes(listener))) {
      stream.off('data', parse as (piece: Buffer) => void);
      stream.on('data', (piece: Buffer) => {
        try {
          frames.take(piece);
          parse(piece);
        } catch (error) {
          stream.destroy(isHandled ? (error as Error) : unreadableMessage(error));
        }
      });
    }
  };
}

/** The functions of pg's internals that this program calls. */
const CALLED_FUNCTIONS = {
  connection: ['query', 'attachListeners', 'endCopyFrom', 'sendCopyFail'],
  'connection.stream': ['write', 'cork', 'uncork', 'destroy', 'setTimeout', 'off'],
} as const;

const hasFunction = (object: unknown, name: string): boolean =>
  typeof (object as Readonly<Record<string, unknown>> | null | undefined)?.[name] === 'function';

/**
 * Looks at a client that connects to nothing. The image holds pg as a part of a bundle, where no version can be read.
 *
 * @throws Error when pg's clients lack one of these functions
 */
export function requireKnownPg({ Client }: Pick<typeof pg, 'Client'>): void {
  const connection = connectionOf(new Client({ ssl: false, sslnegotiation: 'postgres' }));
  const parts = { connection, 'connection.stream': connection?.stream };
  const missing = (Object.keys(CALLED_FUNCTIONS) as (keyof typeof CALLED_FUNCTIONS)[]).flatMap((part) =>
    CALLED_FUNCTIONS[part].filter((name) => !hasFunction(parts[part], name)).map((name) => `${part}.${name}()`),
  );
  if (missing.length > 0) {
    throw new Error(
      `a client of the pg that is installed has no ${missing.join(', ')}; ` +
        `this program is made for pg ${PG_VERSION}: run npm ci`,
    );
  }
}

requireKnownPg(pg);
