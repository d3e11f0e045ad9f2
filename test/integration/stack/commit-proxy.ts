import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { sharedDatabaseUrl } from './shared-stack.ts';
import { testRun } from './test-run.ts';

/**
 * When the connection is cut, seen from a client that has just sent what makes PostgreSQL commit and will never hear of it again:
 *
 * - `before`: PostgreSQL never gets it, and rolls back
 * - `while`: PostgreSQL gets it and commits, or is about to
 * - `after`: PostgreSQL has committed and said so, but the answer is lost
 */
export type CutMoment = 'before' | 'while' | 'after';

/**
 * What makes PostgreSQL commit: the end of the rows, where `COMMIT` came with the `COPY` or with them, or `COMMIT` by
 * itself.
 */
export type CommitMessage = 'rows' | 'COMMIT';

/** Where a transaction of a consumer is held up: before PostgreSQL knows of it, or between its offset and its rows. */
type HeldMessage = 'UPDATE' | 'rows';

/** A way to PostgreSQL that can be cut, or become very long, in the worst moment. */
export interface CommitProxy {
  /** That PostgreSQL by way of this proxy. */
  readonly url: string;
  /** Cuts the connection of the next message that commits in this way; resolves when it is cut. */
  cutNextCommit(moment: CutMoment, by: CommitMessage): Promise<void>;
  /** Holds up the next message of its kind; resolves when there is one, with what lets it go on. */
  holdNext(message: HeldMessage): Promise<() => void>;
}

interface Cut {
  readonly moment: CutMoment;
  readonly by: CommitMessage;
  readonly done: () => void;
}

interface Hold {
  readonly message: HeldMessage;
  readonly held: (letGo: () => void) => void;
}

/** What is to happen to the next of some messages, once. */
interface Traps {
  readonly cut: (by: CommitMessage | null) => Cut | undefined;
  readonly hold: (bytes: Buffer) => Hold | undefined;
}

/** The end of a simple query, and of the answer to it: both are text that a NUL ends. */
const COMMIT = Buffer.from('COMMIT\0');
/** CopyData, CopyDone and Parse, as PostgreSQL's documentation of the protocol has them. */
const COPY_DATA = 'd'.charCodeAt(0);
const COPY_DONE = Buffer.from('c\0\0\0\x04', 'latin1');
const PARSE = 'P'.charCodeAt(0);

/** Statements that take a row each, up to COMMIT. */
const isRowsAndCommit = (bytes: Buffer): boolean => bytes[0] === PARSE && bytes.includes(COMMIT);

const isHeld = (message: HeldMessage, bytes: Buffer): boolean =>
  message === 'rows' ? bytes[0] === COPY_DATA || isRowsAndCommit(bytes) : bytes.includes('UPDATE ');

/**
 * Starts a proxy in front of a PostgreSQL; it ends with the test file.
 *
 * @param url @default the shared PostgreSQL
 */
export async function startCommitProxy(url: string = sharedDatabaseUrl()): Promise<CommitProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let cut: Cut | undefined;
  const takeCut = (by: CommitMessage | null): Cut | undefined => {
    const taken = cut?.by === by ? cut : undefined;
    cut = taken ? undefined : cut;
    return taken;
  };
  let hold: Hold | undefined;
  const takeHold = (bytes: Buffer): Hold | undefined => {
    const taken = hold && isHeld(hold.message, bytes) ? hold : undefined;
    hold = taken ? undefined : hold;
    return taken;
  };
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    relay(client, upstream, { cut: takeCut, hold: takeHold });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  (await testRun()).beforeClose(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: through(server, target),
    cutNextCommit: (moment, by) =>
      new Promise((done) => {
        cut = { moment, by, done };
      }),
    holdNext: (message) =>
      new Promise((held) => {
        hold = { message, held };
      }),
  };
}

/** What the messages of one client commit by; statements that go on after a COPY do so when its rows have ended. */
function commitMessages(): (bytes: Buffer) => CommitMessage | null {
  let commitsWithRows = false;
  return (bytes) => {
    if (bytes.includes('FROM STDIN')) {
      commitsWithRows = bytes.includes(COMMIT);
      return null;
    }
    if (bytes.subarray(-COPY_DONE.length).equals(COPY_DONE)) {
      return commitsWithRows ? 'rows' : null;
    }
    if (isRowsAndCommit(bytes)) {
      return 'rows';
    }
    return bytes.includes(COMMIT) ? 'COMMIT' : null;
  };
}

function relay(client: Socket, upstream: Socket, take: Traps): void {
  const committedBy = commitMessages();
  let awaitsAnswer: Cut | undefined;
  client.on('data', (bytes) => {
    const hold = take.hold(bytes);
    if (hold) {
      hold.held(() => upstream.write(bytes));
      return;
    }
    const cut = take.cut(committedBy(bytes));
    if (cut === undefined || cut.moment === 'after') {
      awaitsAnswer ??= cut;
      upstream.write(bytes);
      return;
    }
    client.destroy();
    // Ended, not destroyed: a reset would make PostgreSQL drop what it has not read yet.
    upstream.end(cut.moment === 'while' ? bytes : Buffer.alloc(0));
    cut.done();
  });
  upstream.on('data', (bytes) => {
    if (awaitsAnswer && bytes.includes(COMMIT)) {
      client.destroy();
      awaitsAnswer.done();
    } else if (client.writable) {
      client.write(bytes);
    }
  });
  client.on('close', () => upstream.end());
  upstream.on('close', () => client.end());
}

function through(server: Server, target: URL): string {
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error(`the proxy listens on no port: ${address}`);
  }
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return url.href;
}
