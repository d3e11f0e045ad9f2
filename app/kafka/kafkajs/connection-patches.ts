import type { ISocketFactory } from 'kafkajs';
import type { BrokerLogins } from '../logins/broker-logins.ts';
import { type AnsweredSoFar, type ListenerAddress, type LoginRefusal, loginRefusal } from '../logins/login-refusal.ts';
import { METADATA_KEY } from './admin-requests.ts';
import type { Authenticator, BrokerPool, Cluster, Connection, RequestQueue } from './classes.ts';
import { internals } from './internals.ts';

/** ApiVersions, SaslHandshake and SaslAuthenticate: a broker answers them before a login. */
const GREETINGS: ReadonlySet<number> = new Set([18, 17, 36]);

interface ListedBrokers {
  /** Left out where topic ids alone were asked for. */
  readonly brokers?: readonly ListenerAddress[];
}

const watchers = new WeakMap<ISocketFactory, BrokerLogins>();

/** The socket factory for a client whose connections are to be watched. */
export function watchedSockets(logins: BrokerLogins): ISocketFactory {
  watchers.set(logins.connect, logins);
  return logins.connect;
}

/** What a connection was answered since it was opened. */
interface Progress {
  answered: AnsweredSoFar;
  /** The failure of a greeting; kafkajs's mechanisms make a refused login of it, even of a lost connection. */
  greetingFailure?: unknown;
}

const progress = new WeakMap<Connection, Progress>();
/** Errors that were reported; several requests fail by one. */
const reported = new WeakSet<object>();

/** kafkajs tries another bootstrap broker after an error of this kind, and after no other. */
function notConnected({ broker }: Connection, { message, code }: Error & { code?: unknown }): Error {
  return new internals.errors.KafkaJSConnectionError(message, { broker, code });
}

async function failed(connection: Connection, logins: BrokerLogins, error: Error): Promise<Error> {
  const answered = progress.get(connection)?.answered ?? 'nothing';
  if (answered === 'requests') {
    return error;
  }
  if (!reported.has(error)) {
    reported.add(error);
    await logins.failed(connection, error, answered);
  }
  return error.name === 'KafkaJSConnectionClosedError' ? notConnected(connection, error) : error;
}

function succeeded(connection: Connection, logins: BrokerLogins, isGreeting: boolean): void {
  const state = progress.get(connection);
  logins.heard.spoke(connection.broker);
  if (!isGreeting) {
    logins.answered(connection.broker, state?.answered !== 'requests');
  }
  if (state && state.answered !== 'requests') {
    state.answered = isGreeting ? 'greetings' : 'requests';
  }
}

/**
 * Reports to the logins how brokers take connections. As shipped a broker that refuses is asked again several times a
 * second.
 */
export function watchConnections(prototype: Connection): void {
  const { connect, send } = prototype;
  prototype.connect = async function connectWatched(this: Connection) {
    const logins = watchers.get(this.socketFactory);
    if (logins === undefined || this.isConnected()) {
      return connect.call(this);
    }
    const refusal = logins.begin(this.broker);
    if (refusal !== undefined) {
      throw notConnected(this, new Error(refusal));
    }
    progress.set(this, { answered: 'nothing' });
    try {
      return await connect.call(this);
    } catch (error) {
      throw await failed(this, logins, error as Error);
    }
  };
  prototype.send = async function sendWatched(this: Connection, sent) {
    const logins = watchers.get(this.socketFactory);
    if (logins === undefined) {
      return send.call(this, sent);
    }
    const isGreeting = GREETINGS.has(sent.request.apiKey);
    try {
      const answer = await send.call(this, sent);
      const brokers = sent.request.apiKey === METADATA_KEY ? (answer as ListedBrokers).brokers : undefined;
      if (brokers !== undefined) {
        logins.advertised(brokers);
      }
      succeeded(this, logins, isGreeting);
      return answer;
    } catch (error) {
      Object.assign(progress.get(this) ?? {}, isGreeting ? { greetingFailure: error } : {});
      if ((error as Error).name === 'KafkaJSProtocolError') {
        succeeded(this, logins, isGreeting);
        throw error;
      }
      throw await failed(this, logins, error as Error);
    }
  };
}

/**
 * Asks the next broker where one cannot be connected to. As shipped one of them, by chance, fails the request, and
 * metadata that no broker sends are null. Bootstrap addresses are not asked: what they answer does not say that any
 * broker can be reached.
 */
export function askAnyBroker(pool: BrokerPool, cluster: Cluster): void {
  const { shuffle, errors } = internals;
  pool.withBroker = async function withAnyBroker(this: BrokerPool, ask) {
    const nodeIds = shuffle(Object.keys(this.brokers));
    const failures: unknown[] = [];
    for (const nodeId of nodeIds) {
      const broker = await this.findBroker({ nodeId }).catch((error: unknown) => void failures.push(error));
      const answer = broker === undefined ? null : await ask({ nodeId, broker }).catch(() => null);
      if (answer !== null) {
        return answer;
      }
    }
    if (failures.length === nodeIds.length) {
      throw failures.at(-1) ?? new errors.KafkaJSBrokerNotFound('No brokers in the broker pool');
    }
    return null;
  };
  const { metadata } = cluster;
  cluster.metadata = async function metadataOrFail(this: Cluster, asked) {
    const answer = await metadata.call(this, asked);
    if (answer === null) {
      throw new errors.KafkaJSError('No broker answered a request for metadata');
    }
    return answer;
  };
}

/**
 * A lost connection is no refusal, and neither is a token that cannot be had, which is reported as a lost connection.
 */
function connectionRefusal(connection: Connection, error: Error): LoginRefusal | undefined {
  const failure = progress.get(connection)?.greetingFailure as Error | undefined;
  const isLost = failure !== undefined && failure.name !== 'KafkaJSProtocolError';
  return isLost || error.name === 'KafkaJSConnectionError' ? undefined : loginRefusal(error);
}

/**
 * Reports to the logins what is refused. As shipped a client asks the broker that refused it for ever, and no other;
 * and a connection whose login failed stays open.
 */
export function watchAuthentication(prototype: Authenticator): void {
  const authenticate = closingFailures(prototype.authenticate);
  prototype.authenticate = async function authenticateWatched(this: Authenticator) {
    const { connection } = this;
    const logins = watchers.get(connection.socketFactory);
    if (logins === undefined) {
      return authenticate.call(this);
    }
    const { answered } = progress.get(connection) ?? { answered: 'nothing' };
    // A session that ends logs in again on the same connection.
    const early = answered === 'requests' ? logins.begin(connection.broker) : undefined;
    if (early !== undefined) {
      throw notConnected(connection, new Error(early));
    }
    progress.set(connection, { answered: answered === 'requests' ? 'greetings' : answered });
    try {
      await authenticate.call(this);
    } catch (error) {
      const refusal = connectionRefusal(connection, error as Error);
      if (refusal !== undefined) {
        logins.refused(connection.broker, refusal);
      }
      const failure = notConnected(connection, error as Error);
      reported.add(failure);
      throw failure;
    }
  };
}

/** Sets no timer while no request is pending. */
export function stopIdleTimer(prototype: RequestQueue): void {
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleWhilePending(this: RequestQueue) {
    if (this.pending.length > 0) {
      schedule.call(this);
    }
  };
}

/** Requests may take 30 s: when one takes longer, a second more does not matter. */
const CHECK_MS = 1_000;
/** The queues of all open connections; each leaves when it is found closed. */
const checked = new Set<RequestQueue>();
let checking: NodeJS.Timeout | undefined;

/**
 * Looks once a second whether a request was left without an answer for too long, in one turn for all connections. As
 * shipped each connection looks ten times a second, whether or not anything was asked.
 */
export function checkTimeoutsTogether(prototype: RequestQueue): void {
  prototype.scheduleRequestTimeoutCheck = function scheduleTogether(this: RequestQueue) {
    if (this.enforceRequestTimeout) {
      checked.add(this);
      // Keeps no process alive, which the sockets do while they are open.
      checking ??= setInterval(checkTimeouts, CHECK_MS).unref();
    }
  };
}

function checkTimeouts(): void {
  for (const queue of checked) {
    for (const request of [...queue.inflight.values()]) {
      if (performance.now() - request.sentAt > request.requestTimeout) {
        request.timeoutRequest();
      }
    }
    if (!queue.isConnected()) {
      checked.delete(queue);
    }
  }
  if (checked.size === 0) {
    clearInterval(checking);
    checking = undefined;
  }
}

/** kafkajs's own time before the end of a session in which it logs in again, in milliseconds. */
const LATEST_LOGIN_MS = 10_000;
/** The part of a session that it may be, as of Java's client, which logs in again at 85 to 95 % of it. */
const SESSION_SHARE = 0.2;
/** A broker takes a further login no sooner than a second after the last one, with a little for the way to it. */
const SOONEST_MS = 1_100;

/**
 * Logs in again (KIP-368) in the last fifth of a session, and in the last 10 s at the earliest. As shipped it is always
 * the last 10 s. In a session of no more than that, as with a token that ends soon, each request then begins with a
 * login. The broker, which takes one a second, refuses the others with ILLEGAL_SASL_STATE.
 */
export function logInLate(prototype: Connection): void {
  Object.defineProperty(prototype, 'reauthenticationThreshold', {
    configurable: true,
    get(this: Connection): number {
      const lifetime = this.sessionLifetime.toNumber();
      return Math.floor(Math.min(LATEST_LOGIN_MS, lifetime * SESSION_SHARE, lifetime - SOONEST_MS));
    },
    // kafkajs's constructor sets its own.
    set: () => undefined,
  });
}

/**
 * Closes a connection whose login failed, so that the next attempt has a new one. As shipped it stays open, and the
 * broker, which waits for the rest of the login, refuses the beginning of the next one with ILLEGAL_SASL_STATE for
 * good. Requests on their way fail as those of any connection that is closed do: they are not what is refused.
 */
const closingFailures = (authenticate: Authenticator['authenticate']) =>
  async function authenticateOrClose(this: Authenticator): Promise<void> {
    try {
      await authenticate.call(this);
    } catch (error) {
      const { host, port } = this.connection;
      const closed = new internals.errors.KafkaJSConnectionClosedError('Closed connection', { host, port });
      this.connection.rejectRequests(closed);
      await this.connection.disconnect();
      throw error;
    }
  };
