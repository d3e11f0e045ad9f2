import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { ISocketFactoryArgs } from 'kafkajs';
import type { Settings } from '../../../settings/settings.ts';
import { readTls } from '../../credentials/tls-files.ts';
import type { Logger } from '../../logging/logger.ts';
import { INVALID_ANSWER } from '../../network/invalid-answer.ts';
import { plainSocket } from '../../network/plain-socket.ts';
import type { Clock } from '../../stream/ports/clock.ts';
import { FatalError } from '../../stream/ports/stream-errors.ts';
import { HeardBrokers } from './heard-brokers.ts';
import {
  type AnsweredSoFar,
  certificateRefusal,
  isMismatch,
  type ListenerAddress,
  type LoginRefusal,
  listenerMismatch,
} from './login-refusal.ts';

/** Refusals in a row, of all brokers together, that are the end: fewer than lock an account at most places. */
const MOST_REFUSALS = 5;

/** For so long a broker that answered a request counts as one that accepts, and a row of refusals is kept. */
const REMEMBERED_MS = 300_000;

/** The pause after a refusal grows by this with each one: 5 attempts take 10 s, and a changed Secret some time. */
const PACE_MS = 1_000;
const SLOWEST_MS = 10_000;

/**
 * How long a process that a broker let in before is refused until that is the end: the brokers may know a new password
 * long before the files have it, and the kubelet takes up to two minutes to update those of a Secret.
 */
const ROTATION_MS = 180_000;

/** Between attempts of such a process once it was refused {@link MOST_REFUSALS} times: accounts may be locked. */
const ROTATION_PACE_MS = 30_000;

/** As kafkajs's own sockets. */
const KEEP_ALIVE_MS = 60_000;

const listenerName = ({ host, port }: ListenerAddress): string => `${host}:${port}`;

/** What is known of one address. */
interface BrokerState {
  /** In a row. */
  refusals: number;
  refusal?: LoginRefusal | undefined;
  /** Whether the last attempt is without a result. */
  isTrying: boolean;
  /** How a listener that closes without a word is being asked. */
  asking?: Promise<LoginRefusal | undefined> | undefined;
  /** What the last attempt was made with. */
  triedWith?: unknown;
  /** When the last attempt began, the last one was refused, and a request was last answered. */
  triedAt: number;
  refusedAt: number;
  acceptedAt: number;
}

/** What the logins work with. */
interface BrokerLoginPorts {
  /**
   * The settings of the moment: each attempt is made with newly read certificates and passwords. Each of the bootstrap
   * brokers, or each advertised one where they are known, is tried before all count as refusing.
   */
  readonly current: () => Settings['kafka'];
  readonly clock: Pick<Clock, 'steady'>;
  readonly logger: Logger;
  /** Logged once. */
  readonly onRefused: (error: FatalError) => void;
  /** Called for each refusal. @default nothing is */
  readonly onRefusal?: (refusal: LoginRefusal) => void;
}

/**
 * The connections that all Kafka clients of the process open, and how the brokers took them. A refused login or
 * certificate passes by no waiting: when every broker that answered refuses, it is reported as fatal. One that refuses
 * while others accept is left to them, as one that is away. Nothing was read over a refused connection, so all records
 * are still ahead of the stored offsets.
 */
export class BrokerLogins {
  readonly heard = new HeardBrokers();
  readonly #ports: BrokerLoginPorts;
  readonly #brokers = new Map<string, BrokerState>();
  /** Empty until a broker has listed them. */
  #advertised: ReadonlySet<string> = new Set();
  /** Since when the process is refused. */
  #refusedSince: number | null = null;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor(ports: BrokerLoginPorts) {
    this.#ports = ports;
  }

  /**
   * Opens a connection with the TLS options of the moment, for kafkajs, whose one listener of data copies what comes
   * (answer-patches.ts).
   */
  readonly connect = ({ host, port, onConnect }: ISocketFactoryArgs): Socket => {
    const socket = this.#open({ host, port }, 'lent', onConnect);
    socket.once('connect', () => this.heard.connected(listenerName({ host, port })));
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    return socket;
  };

  /** Begins an attempt. @returns why it is too early for one, or too late; undefined where it may begin */
  begin(broker: string): string | undefined {
    const state = this.#state(broker);
    const now = this.#now();
    const { sasl, tls } = this.#ports.current();
    const isEarly = now - state.triedAt < this.#pauseOf(state) && isDeepStrictEqual(state.triedWith, { sasl, tls });
    if (state.refusal !== undefined && (this.#isOver || isEarly)) {
      return state.refusal.words;
    }
    state.triedAt = now;
    state.triedWith = { sasl, tls };
    state.isTrying = true;
    return undefined;
  }

  #pauseOf({ isTrying, refusals }: BrokerState): number {
    if (this.#wasAccepted() && refusals >= MOST_REFUSALS) {
      return ROTATION_PACE_MS;
    }
    return isTrying ? SLOWEST_MS : Math.min(refusals * PACE_MS, SLOWEST_MS);
  }

  /**
   * A broker listed the addresses that the brokers advertise. All but the first requests go there, so from now on they
   * alone count: a bootstrap address that is none of them, such as a load balancer's, may accept what they refuse.
   */
  advertised(addresses: readonly ListenerAddress[]): void {
    // What was tried counts on: bootstrap addresses of several listeners list different ones.
    const tried = [...this.#advertised].filter((broker) => this.#brokers.has(broker));
    this.#advertised = new Set([...addresses.map(listenerName), ...tried]);
  }

  /**
   * The broker answered a request that takes a login, where there is one.
   *
   * @param isNew whether it is the first one since a login: an older session says nothing of the next login
   */
  answered(broker: string, isNew: boolean): void {
    const state = this.#state(broker);
    state.acceptedAt = this.#now();
    if (isNew) {
      this.#refusedSince = this.#counts(broker) ? null : this.#refusedSince;
      state.isTrying = false;
      state.refusals = 0;
      state.refusal = undefined;
    }
  }

  /** The broker refused, or is refused. */
  refused(broker: string, refusal: LoginRefusal): void {
    const state = this.#state(broker);
    const now = this.#now();
    state.isTrying = false;
    state.refusals = now - state.refusedAt > REMEMBERED_MS ? 1 : state.refusals + 1;
    state.refusedAt = now;
    state.refusal = refusal;
    const goesOn = this.#refusedSince !== null && now - this.#refusedAt <= REMEMBERED_MS;
    this.#refusedSince = goesOn ? this.#refusedSince : now;
    this.#refusedAt = now;
    if (this.#isOver) {
      return;
    }
    this.#ports.onRefusal?.(refusal);
    const { code, words, remedy } = refusal;
    const line = { code, broker, attempts: state.refusals };
    this.#ports.logger.warn(line, `${broker} refuses the connection: ${words}; ${remedy}${this.#origin(code)}`);
    if (this.#areAllRefusing()) {
      this.#isOver = true;
      this.#ports.onRefused(this.#fatal(refusal));
    }
  }

  /** Finds out whether a connection that failed was refused; one that broke since the broker is away was not. */
  async failed(address: ListenerAddress, error: unknown, answered: AnsweredSoFar): Promise<void> {
    const refusal =
      certificateRefusal(error, this.#ports.current()) ?? (await this.#mismatch(address, error, answered));
    if (refusal === undefined) {
      this.#state(listenerName(address)).isTrying = false;
    } else {
      this.refused(listenerName(address), refusal);
    }
  }

  /**
   * A broker that closes without a word, or with an alert of TLS, says nothing, as one that is starting does: it is
   * asked in the other way, once as long as it goes on like that.
   */
  async #mismatch(
    address: ListenerAddress,
    error: unknown,
    answered: AnsweredSoFar,
  ): Promise<LoginRefusal | undefined> {
    const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
    const isAnswered = code === INVALID_ANSWER;
    if (name !== 'KafkaJSConnectionClosedError' && code !== 'ECONNRESET' && code !== 'EPIPE' && !isAnswered) {
      return undefined;
    }
    const state = this.#state(listenerName(address));
    if (state.refusal !== undefined && isMismatch(state.refusal)) {
      return state.refusal;
    }
    const open = (): Socket => this.#open(address, 'copied');
    const soFar = isAnswered ? 'otherwise' : answered;
    state.asking ??= listenerMismatch(address, soFar, this.#ports.current(), open).finally(() => {
      state.asking = undefined;
    });
    return state.asking;
  }

  #open({ host, port }: ListenerAddress, pieces: Parameters<typeof plainSocket>[0], onConnect?: () => void): Socket {
    const settings = this.#ports.current();
    return settings.ssl
      ? connectTls(
          { host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...tlsOptions(settings) },
          onConnect,
        )
      : plainSocket(pieces).connect({ host, port }, onConnect);
  }

  #counts(broker: string): boolean {
    return this.#advertised.size === 0 || this.#advertised.has(broker);
  }

  /** Whether any broker has ever let the process in, at the address where records are read. */
  #wasAccepted(): boolean {
    return [...this.#advertised].some((broker) => Number.isFinite(this.#brokers.get(broker)?.acceptedAt));
  }

  #areAllRefusing(): boolean {
    const now = this.#now();
    const known = [...this.#brokers].filter(([broker]) => this.#counts(broker)).map(([, state]) => state);
    const refusals = known.reduce((sum, state) => sum + state.refusals, 0);
    const accepts = known.some(
      ({ acceptedAt, refusedAt }) => acceptedAt > refusedAt && now - acceptedAt < REMEMBERED_MS,
    );
    const wanted = this.#advertised.size === 0 ? this.#ports.current().brokers : [...this.#advertised];
    const isLong = !this.#wasAccepted() || now - (this.#refusedSince ?? now) >= ROTATION_MS;
    return refusals >= MOST_REFUSALS && isLong && !accepts && wanted.every((broker) => this.#brokers.has(broker));
  }

  #fatal({ code, words, remedy }: LoginRefusal): FatalError {
    const refusing = [...this.#brokers].filter(([, { refusals }]) => refusals > 0).map(([broker]) => broker);
    const { brokers } = this.#ports.current();
    const isElsewhere = !refusing.some((broker) => brokers.includes(broker));
    const where = isElsewhere
      ? 'kafka.brokers accepts it and leads there: check advertised.listeners of the brokers. '
      : '';
    const message =
      `every broker that answered refuses the connection (${refusing.join(', ')}): ${words}. ${where}Nothing was skipped. To go on, ` +
      `${remedy}. Then start again${this.#origin(code)}`;
    return new FatalError(code, message);
  }

  /** Where what was refused comes from, as the end of a message. */
  #origin(code: LoginRefusal['code']): string {
    const { credentialsFrom } = this.#ports.current();
    const isKnown = credentialsFrom !== undefined && code !== 'KAFKA_TLS_MISMATCH';
    return isKnown ? `. The credentials are those of ${credentialsFrom}` : '';
  }

  #state(broker: string): BrokerState {
    const long = Number.NEGATIVE_INFINITY;
    const state = this.#brokers.get(broker) ?? {
      refusals: 0,
      isTrying: false,
      triedAt: long,
      refusedAt: long,
      acceptedAt: long,
    };
    this.#brokers.set(broker, state);
    return state;
  }

  #now(): number {
    return this.#ports.clock.steady().getTime();
  }
}

/**
 * The options of `kafka.tls`, with the files as they are now.
 *
 * @throws Error with the setting, for a file that cannot be read or holds something else
 */
export function tlsOptions({ tls }: Settings['kafka']): ConnectionOptions {
  const { serverName, verifyHostName = true } = tls ?? {};
  return {
    ...readTls('kafka.tls', tls),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(verifyHostName ? {} : { checkServerIdentity: () => undefined }),
  };
}
