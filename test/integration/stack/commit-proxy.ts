import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { sharedDatabaseUrl } from './shared-stack.ts';
import { testRun } from './test-run.ts';

/**
 * When the connection is cut, seen from a client that has just sent `COMMIT` and will never hear of it again:
 *
 * - `before`: PostgreSQL never gets it, and rolls back
 * - `while`: PostgreSQL gets it and commits, or is about to
 * - `after`: PostgreSQL has committed and said so, but the answer is lost
 */
export type CutMoment = 'before' | 'while' | 'after';

/** Where a transaction of a consumer is held up: before PostgreSQL knows of it, or between its offset and its rows. */
export type HeldStatement = 'UPDATE' | 'COPY';

/** A way to PostgreSQL that can be cut, or become very long, in the worst moment. */
export interface CommitProxy {
  /** The shared PostgreSQL by way of this proxy. */
  readonly url: string;
  /** Cuts the connection of the next `COMMIT`; resolves when it is cut. */
  cutNextCommit(moment: CutMoment): Promise<void>;
  /** Holds up the next statement of its kind; resolves when there is one, with what lets it go on. */
  holdNext(statement: HeldStatement): Promise<() => void>;
}

interface Cut {
  readonly moment: CutMoment;
  readonly done: () => void;
}

interface Hold {
  readonly statement: HeldStatement;
  readonly held: (letGo: () => void) => void;
}

/** What is to happen to the next of some statements, once. */
interface Traps {
  readonly cut: () => Cut | undefined;
  readonly hold: (bytes: Buffer) => Hold | undefined;
}

/** The end of a simple query, and of the answer to it: both are text that a NUL ends. */
const COMMIT = Buffer.from('COMMIT\0');

/** Starts a proxy in front of the shared PostgreSQL; it ends with the test file. */
export async function startCommitProxy(): Promise<CommitProxy> {
  const target = new URL(sharedDatabaseUrl());
  const sockets = new Set<Socket>();
  let cut: Cut | undefined;
  const takeCut = (): Cut | undefined => {
    const taken = cut;
    cut = undefined;
    return taken;
  };
  let hold: Hold | undefined;
  const takeHold = (bytes: Buffer): Hold | undefined => {
    const taken = hold && bytes.includes(`${hold.statement} `) ? hold : undefined;
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
    cutNextCommit: (moment) =>
      new Promise((done) => {
        cut = { moment, done };
      }),
    holdNext: (statement) =>
      new Promise((held) => {
        hold = { statement, held };
      }),
  };
}

function relay(client: Socket, upstream: Socket, take: Traps): void {
  let awaitsAnswer: Cut | undefined;
  client.on('data', (bytes) => {
    const hold = take.hold(bytes);
    if (hold) {
      hold.held(() => upstream.write(bytes));
      return;
    }
    const cut = bytes.includes(COMMIT) ? take.cut() : undefined;
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
