import type { Kafka, LogEntry, SASLOptions } from 'kafkajs';
import type { Settings } from '../../settings/settings.ts';
import type { Logger } from '../logger.ts';
import { loadKafkajs } from './kafkajs-patches.ts';

const kafkajs = loadKafkajs();

/** kafkajs's retries of one request. A request that fails in the end is retried by its caller. */
const RETRY = { initialRetryTime: 200, maxRetryTime: 2_000, retries: 5 } as const;

function saslOptions(sasl: Settings['kafka']['sasl']): { sasl: SASLOptions } | Record<string, never> {
  return sasl ? { sasl: { ...sasl } as SASLOptions } : {};
}

/**
 * kafkajs's own log lines, one level less severe: its failures also come as errors and events, which are logged in
 * full.
 */
function logCreator(logger: Logger) {
  const { ERROR, WARN, INFO } = kafkajs.logLevel;
  return () =>
    ({ level, namespace, log }: LogEntry) => {
      const { message, error } = log;
      const fields = { namespace, ...(typeof error === 'string' ? { error } : {}) };
      const write = { [ERROR]: 'warn', [WARN]: 'info', [INFO]: 'debug' }[level as 1 | 2 | 4] ?? 'trace';
      logger[write as 'warn' | 'info' | 'debug' | 'trace'](fields, `kafkajs: ${message}`);
    };
}

/**
 * A Kafka client from the settings; it connects to nothing yet.
 *
 * @param retries attempts after the first one, before a request fails
 */
export function createKafkaClient(settings: Settings['kafka'], logger: Logger, retries: number = RETRY.retries): Kafka {
  return new kafkajs.Kafka({
    clientId: settings.clientId,
    brokers: [...settings.brokers],
    ssl: settings.ssl,
    ...saslOptions(settings.sasl),
    connectionTimeout: 5_000,
    requestTimeout: 30_000,
    retry: { ...RETRY, retries },
    logLevel: kafkajs.logLevel.INFO,
    logCreator: logCreator(logger),
  });
}
