import type { Authenticator, Connection } from './classes.ts';
import { internals } from './internals.ts';

/** kafkajs's own time before the end of a session in which it logs in again, in milliseconds. */
const LONGEST_MS = 10_000;
/** The part of a session that it may be, as of Java's client, which logs in again at 85 to 95 % of it. */
const PART = 0.2;
/** A broker takes a further login no sooner than a second after the last one, with a little for the way to it. */
const SOONEST_MS = 1_100;

/**
 * Logs in again (KIP-368) in the last fifth of a session, and in the last 10 s at the earliest. As shipped it is always the
 * last 10 s: in a session of no more than that, as with a token that ends soon, each request has a login of its own, and
 * the broker, which takes one a second, refuses the others with ILLEGAL_SASL_STATE.
 */
export function logInLate(prototype: Connection): void {
  Object.defineProperty(prototype, 'reauthenticationThreshold', {
    configurable: true,
    get(this: Connection): number {
      const lifetime = this.sessionLifetime.toNumber();
      return Math.floor(Math.min(LONGEST_MS, lifetime * PART, lifetime - SOONEST_MS));
    },
    // kafkajs's constructor sets its own.
    set: () => undefined,
  });
}

/**
 * Closes a connection whose login failed, so that the next attempt has a new one. As shipped it stays open, and the broker,
 * which waits for the rest of the login, refuses the beginning of the next one with ILLEGAL_SASL_STATE for good. Requests
 * on their way fail as those of any connection that is closed do: they are not what is refused.
 */
export const closingFailures = (authenticate: Authenticator['authenticate']) =>
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
