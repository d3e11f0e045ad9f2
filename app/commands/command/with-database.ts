import { EXIT_CODE } from '../../../contract/exit-code.ts';
import { PRODUCT_NAME } from '../../../contract/identity.ts';
import type { Settings } from '../../../settings/settings.ts';
import { DatabasePool } from '../../store/connection/database-pool.ts';
import { FatalError, OF_CONFIGURATION, OutageError } from '../../stream/ports/stream-errors.ts';
import type { OutputStreams } from './command.ts';

/**
 * Runs the work of a command on a pool of one connection, and closes the pool.
 *
 * @param command its words, which the line about an error begins with
 * @returns the exit code of `work`; 1, with a line on standard error, when PostgreSQL was away or refused. It rejects
 * only for a mistake in the program.
 */
export async function withDatabase(
  command: string,
  database: Settings['database'],
  { err }: Pick<OutputStreams, 'err'>,
  work: (pool: DatabasePool) => Promise<number>,
  codeOf: (error: OutageError | FatalError) => number = () => EXIT_CODE.failed,
): Promise<number> {
  const pool = new DatabasePool({ ...database, poolSize: 1 }, () => undefined, {
    warn: (warning) => err.write(`warning: ${warning}\n`),
  });
  try {
    return await work(pool);
  } catch (error) {
    if (!(error instanceof OutageError || error instanceof FatalError)) {
      throw error;
    }
    err.write(`${PRODUCT_NAME} ${command}: ${error instanceof OutageError ? outageText(error) : error.message}\n`);
    return codeOf(error);
  } finally {
    await pool.close();
  }
}

const LOCKED = '. Another transaction holds what this one waits for: try again when it is over';

/** The message of an outage, and what to do where another transaction is the reason. */
export const outageText = ({ message, isLockWait }: OutageError): string => `${message}${isLockWait ? LOCKED : ''}`;

/**
 * The same for a command that asks Kafka or the schema registry, too, and does what the consumer does.
 *
 * @returns 78 where a consumer ends with it
 */
export const withServers: typeof withDatabase = (command, database, streams, work) =>
  withDatabase(command, database, streams, work, (error) =>
    error instanceof FatalError && OF_CONFIGURATION.has(error.code) ? EXIT_CODE.configuration : EXIT_CODE.failed,
  );
