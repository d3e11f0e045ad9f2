import type { Kafka, KafkaConfig, LogEntry, SASLOptions } from 'kafkajs';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logging/logger.ts';
import type { OutageWatch } from '../logging/outage-log.ts';
import { RepeatedFailures } from '../logging/outage-log.ts';
import { systemClock } from '../stream/ports/clock.ts';
import type { FatalError } from '../stream/ports/stream-errors.ts';
import { watchedSockets } from './kafkajs/connection-patches.ts';
import { loadKafkajs } from './kafkajs/patches.ts';
import { BrokerLogins } from './logins/broker-logins.ts';
import type { LoginRefusal } from './logins/login-refusal.ts';
import { TokenLogin } from './logins/token-login.ts';

const kafkajs = loadKafkajs();

/** kafkajs's retries of one request. A request that fails in the end is retried by its caller. */
const RETRY = { initialRetryTime: 200, maxRetryTime: 2_000, retries: 5 } as const;

/** kafkajs reads user and password at each login, so these are those of the moment. */
function saslOptions(current: () => Settings['kafka'], tokens: TokenLogin): Pick<KafkaConfig, 'sasl'> {
  const { sasl } = current();
  const options = {
    mechanism: sasl?.mechanism,
    get username() {
      return current().sasl?.username;
    },
    get password() {
      return current().sasl?.password;
    },
  };
  return sasl === undefined ? {} : { sasl: tokens.mechanism ?? (options as SASLOptions) };
}

/** kafkajs's lines that say once more what the line of a connection, or the event of a crash, says already. */
const isEcho = ({ namespace, log: { message } }: LogEntry): boolean =>
  namespace === 'BrokerPool' || (namespace === 'Consumer' && /^(Crash: |Restarting the consumer)/.test(message));

/**
 * kafkajs's own log lines, one level less severe: its failures also come as errors and events, which are logged in
 * full. All clients of an outage complain together, several times a second. So what they report of a broker is logged
 * once for each reason, with a count, and again every five minutes; the others are at `debug`.
 */
class ClientLog {
  readonly #logger: Logger;
  readonly #brokers = new Map<unknown, RepeatedFailures>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Takes one line. */
  readonly write = (entry: LogEntry): void => {
    const { ERROR, WARN, INFO } = kafkajs.logLevel;
    const { level, namespace, log } = entry;
    const { message, error, broker } = log;
    const severity = { [ERROR]: 'warn', [WARN]: 'info', [INFO]: 'debug' } as const;
    const written = severity[level as 1 | 2 | 4];
    const isRare = written === 'debug' || broker === undefined;
    const count = isRare ? undefined : this.#of(broker).failed(`${message} ${error ?? ''}`);
    const isRepeated = isEcho(entry) || (!isRare && count === undefined);
    const fields = {
      namespace,
      ...(isRare ? {} : { broker, count }),
      ...(typeof error === 'string' ? { error } : {}),
    };
    this.#logger[isRepeated ? 'debug' : written](fields, `kafkajs: ${message}`);
  };

  #of(broker: unknown): RepeatedFailures {
    const failures = this.#brokers.get(broker) ?? new RepeatedFailures();
    this.#brokers.set(broker, failures);
    return failures;
  }
}

/** What all clients of the process share. */
export interface SharedByClients {
  readonly log: Pick<ClientLog, 'write'>;
  /** One token serves them all. */
  readonly tokens: TokenLogin;
  readonly logins: BrokerLogins;
  /** The settings of the moment, for user and password. */
  readonly current: () => Settings['kafka'];
  /** A watch of outages whose reasons show what speaks at the brokers' addresses. */
  readonly heard: (outages: OutageWatch) => OutageWatch;
}

/**
 * What the clients of a process share.
 *
 * @param onRefused called once, when every broker that answered refuses the login or the certificate
 * @param onRefusal called for each refusal. @default nothing is called
 */
export function shareByClients(
  current: () => Settings['kafka'],
  logger: Logger,
  onRefused: (error: FatalError) => void,
  onRefusal: (refusal: LoginRefusal) => void = () => undefined,
): SharedByClients {
  const logins = new BrokerLogins({ current, clock: systemClock, logger, onRefused, onRefusal });
  const heard = (outages: OutageWatch) => logins.heard.watch(outages, () => current().brokers);
  return { log: new ClientLog(logger), tokens: new TokenLogin(() => current().sasl, kafkajs), logins, current, heard };
}

/**
 * A Kafka client from the settings; it connects to nothing yet.
 *
 * @param retries attempts after the first one, before a request fails
 */
export function createKafkaClient(shared: SharedByClients, retries: number = RETRY.retries): Kafka {
  const { log, tokens, logins, current } = shared;
  const { clientId, brokers, ssl } = current();
  return new kafkajs.Kafka({
    clientId,
    brokers: [...brokers],
    ssl,
    ...saslOptions(current, tokens),
    socketFactory: watchedSockets(logins),
    connectionTimeout: 5_000,
    requestTimeout: 30_000,
    retry: { ...RETRY, retries },
    logLevel: kafkajs.logLevel.INFO,
    logCreator: () => log.write,
  });
}
